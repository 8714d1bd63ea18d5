# What every target of the project shares: the strict floating-point flags, warnings, sanitizers,
# and the two functions with which folders declare themselves.
include_guard()
include(GNUInstallDirs)

find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Threads REQUIRED)

add_library(lockstep_flags INTERFACE)
target_compile_features(lockstep_flags INTERFACE cxx_std_20)
# The promise rests on these: no contraction behind our back, no reassociation, ever.
target_compile_options(lockstep_flags INTERFACE -ffp-contract=off -fno-fast-math)
target_compile_options(lockstep_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
if(LOCKSTEP_WERROR)
  target_compile_options(lockstep_flags INTERFACE -Werror)
endif()
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()
target_include_directories(lockstep_flags INTERFACE ${PROJECT_SOURCE_DIR})

# lockstep_area(NAME SOURCES ... [LIBRARIES ...]): one folder of the library. Its objects end up in the
# single static library `lockstep`; its libraries become dependencies of that library.
function(lockstep_area name)
  cmake_parse_arguments(AREA "" "" "SOURCES;LIBRARIES" ${ARGN})
  set(target lockstep_${name})
  add_library(${target} OBJECT ${AREA_SOURCES})
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${target} PRIVATE lockstep_flags fmt::fmt ${AREA_LIBRARIES})
  target_sources(lockstep PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

# lockstep_test(NAME SOURCES...): one GoogleTest program; each of its tests is a CTest test.
function(lockstep_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE lockstep lockstep_flags lockstep_test_support fmt::fmt GTest::gtest_main)
  gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_TIMEOUT 120 PROPERTIES TIMEOUT 600)
endfunction()
