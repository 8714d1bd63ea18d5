# cmake --install: headers, the static library and a package that find_package(lockstep) finds.
