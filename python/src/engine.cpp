// The library as one shared object for the module and the program of the package: its objects come out of the static
// library (python/CMakeLists.txt).
