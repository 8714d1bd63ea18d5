# cmake --install: headers, the static library, the program and a package that find_package(lockstep) finds.
include_guard()
include(CMakePackageConfigHelpers)

set(LOCKSTEP_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)

install(TARGETS lockstep EXPORT lockstep-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

# The public interface is what lockstep.hpp names; what that includes, directly or not, is installed with it. All other
# headers stay here. (An include of these headers stands at the beginning of a line, between quotes, from lockstep/ on.)
set(public_headers lockstep/lockstep.hpp)
set(unread ${public_headers})
while(unread)
  list(POP_FRONT unread header)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${header})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"lockstep/")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]*)\".*" "\\1" included "${line}")
    if(NOT included IN_LIST public_headers)
      list(APPEND public_headers ${included})
      list(APPEND unread ${included})
    endif()
  endforeach()
endwhile()
foreach(header IN LISTS public_headers)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

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
