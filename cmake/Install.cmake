# cmake --install: headers, the static library, the program and a package that find_package(lockstep) finds.
include_guard()
include(CMakePackageConfigHelpers)

set(LOCKSTEP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)

install(TARGETS lockstep EXPORT lockstep-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lockstep DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp"
        # These need libraries that users may not have.
        PATTERN onednn.hpp EXCLUDE
        REGEX "kernels/opencl/(address_space|api|device|devices|programs)[.]hpp$" EXCLUDE)
install(EXPORT lockstep-targets NAMESPACE lockstep:: DESTINATION ${LOCKSTEP_PACKAGE_DIR})
if(TARGET lockstep_cli)
  install(TARGETS lockstep_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

get_property(plugins GLOBAL PROPERTY LOCKSTEP_PLUGINS)
install(FILES ${plugins} DESTINATION lib/lockstep OPTIONAL)
if(TARGET lockstep_smpi)
  install(TARGETS lockstep_smpi LIBRARY DESTINATION lib/lockstep)
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/lockstep-config.cmake.in
                              ${PROJECT_BINARY_DIR}/lockstep-config.cmake INSTALL_DESTINATION ${LOCKSTEP_PACKAGE_DIR})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lockstep-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lockstep-config.cmake ${PROJECT_BINARY_DIR}/lockstep-config-version.cmake
        DESTINATION ${LOCKSTEP_PACKAGE_DIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
