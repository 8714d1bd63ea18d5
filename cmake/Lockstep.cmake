# What every target of the project shares: the strict floating-point flags, warnings, sanitizers,
# and the functions with which folders declare themselves.
include_guard()
include(GNUInstallDirs)

find_package(fmt REQUIRED)
find_package(ZLIB REQUIRED)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS CXX)  # without it teams are made of plain threads
# What the library itself links.
set(LOCKSTEP_LIBRARIES fmt::fmt ZLIB::ZLIB JPEG::JPEG PNG::PNG Threads::Threads ${CMAKE_DL_LIBS}
                       $<TARGET_NAME_IF_EXISTS:OpenMP::OpenMP_CXX>)
if(LOCKSTEP_CLI)
  find_package(CLI11 REQUIRED)
endif()
if(LOCKSTEP_TESTS)
  find_package(GTest QUIET)
endif()

# The Python that tests use; the Makefile points it at the virtual environment.
set(LOCKSTEP_PYTHON "" CACHE FILEPATH "Python interpreter for the tests")
if(NOT LOCKSTEP_PYTHON)
  find_program(LOCKSTEP_PYTHON_FOUND NAMES python3)
  mark_as_advanced(LOCKSTEP_PYTHON_FOUND)
  if(LOCKSTEP_PYTHON_FOUND)
    set(LOCKSTEP_PYTHON ${LOCKSTEP_PYTHON_FOUND})
  endif()
endif()

add_library(lockstep_flags INTERFACE)
target_compile_features(lockstep_flags INTERFACE cxx_std_20)
# The promise rests on these: no contraction behind our back, no reassociation, ever.
target_compile_options(lockstep_flags INTERFACE -ffp-contract=off -fno-fast-math)
target_compile_options(lockstep_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms in std::string: GCC bug 105651, and again where <string> comes out of a precompiled header.
  target_compile_options(lockstep_flags INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
                                                  -Wno-array-bounds)
endif()
if(LOCKSTEP_WERROR)
  target_compile_options(lockstep_flags INTERFACE -Werror)
endif()
if(LOCKSTEP_SANITIZE)
  target_compile_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE} -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=all)
  target_link_options(lockstep_flags INTERFACE -fsanitize=${LOCKSTEP_SANITIZE})
endif()
target_include_directories(lockstep_flags INTERFACE ${PROJECT_SOURCE_DIR})
# For the folders whose lines are counted. Counters are atomic: threads share them.
set(LOCKSTEP_COVERAGE_FLAGS "")
if(LOCKSTEP_COVERAGE)
  set(LOCKSTEP_COVERAGE_FLAGS -O1 --coverage -fprofile-update=atomic)
  target_link_options(lockstep_flags INTERFACE --coverage)
endif()

# Headers of libraries that most sources include are parsed once. A build without them (the preset tidy) shows whether
# every source includes what it uses.
option(LOCKSTEP_PCH "Precompile the headers of libraries that most sources include" ON)
set(LOCKSTEP_COMMON_HEADERS <fmt/format.h> <fmt/ranges.h> <algorithm> <filesystem> <functional> <map> <memory>
                            <optional> <span> <string> <string_view> <variant> <vector>)
# lockstep_precompile(TARGET OWNER HEADERS...): OWNER precompiles the headers; other targets with its flags share them.
function(lockstep_precompile target owner)
  if(NOT LOCKSTEP_PCH)
    return()
  endif()
  if(target STREQUAL owner)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# lockstep_area(NAME [COLD] SOURCES ... [LIBRARIES ...]): one folder of the library. Its objects end up in the
# single static library `lockstep`. LIBRARIES are what its sources include; a library that must also be linked
# (not header-only) stands in lockstep/CMakeLists.txt as well. COLD: no loop of a training or a file of data runs in it.
function(lockstep_area name)
  cmake_parse_arguments(AREA "COLD" "" "SOURCES;LIBRARIES" ${ARGN})
  set(target lockstep_${name})
  add_library(${target} OBJECT ${AREA_SOURCES})
  # In a unity build an area is one unit: what its files share, templates above all, is compiled once.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON UNITY_BUILD_BATCH_SIZE 0)
  target_link_libraries(${target} PRIVATE lockstep_flags fmt::fmt ${AREA_LIBRARIES})
  if(AREA_COLD)
    lockstep_cold(${target})
  else()
    lockstep_precompile(${target} lockstep_core ${LOCKSTEP_COMMON_HEADERS})
  endif()
  target_sources(lockstep PRIVATE $<TARGET_OBJECTS:${target}>)
endfunction()

# lockstep_cold(TARGET): what reads, calls the library and prints. -Og compiles it in 60 % of the time of -O3 (-O0 takes
# longer: it emits every template), and most of it uses nlohmann-json, whose header is precompiled for all such targets by
# the area `report`.
function(lockstep_cold target)
  target_compile_options(${target} PRIVATE -fPIC $<$<CONFIG:Release>:-Og>)  # headers are shared by equal flags only
  lockstep_precompile(${target} lockstep_report ${LOCKSTEP_COMMON_HEADERS} <nlohmann/json.hpp>)
endfunction()

# lockstep_test(NAME SOURCES...): one GoogleTest program; each of its tests is a CTest test.
# The networks of the tests are so small that one thread would take most steps: here all of them do.
set(LOCKSTEP_TEST_ENVIRONMENT ENVIRONMENT_MODIFICATION LOCKSTEP_STEP_THREADS=set:all)
function(lockstep_test name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE lockstep lockstep_flags lockstep_test_support fmt::fmt GTest::gtest_main)
  lockstep_precompile(${name} core_tests ${LOCKSTEP_COMMON_HEADERS} <gtest/gtest.h>)
  # Numbers instead of the text of parameters, which may be long, or an address that changes with every run.
  gtest_discover_tests(${name} TEST_PREFIX ${name}. NO_PRETTY_VALUES DISCOVERY_TIMEOUT 120
                       PROPERTIES TIMEOUT 600 ${LOCKSTEP_TEST_ENVIRONMENT})
endfunction()

# lockstep_python_test(NAME SCRIPT file.py [NEEDS module...] [ARGS arg...] [PROPERTIES name value...]): a CTest that
# runs a Python script. Where a module it needs cannot be imported the test is skipped and says so; where CI is set it
# fails. Without any Python there is no such test; the closing table says so.
function(lockstep_python_test name)
  cmake_parse_arguments(TEST "" "SCRIPT" "NEEDS;ARGS;PROPERTIES" ${ARGN})
  if(NOT LOCKSTEP_PYTHON)
    return()
  endif()
  list(JOIN TEST_NEEDS "," needs)
  add_test(NAME ${name} COMMAND ${LOCKSTEP_PYTHON} -B ${PROJECT_SOURCE_DIR}/tests/support/run_python_test.py
           "--needs=${needs}" ${CMAKE_CURRENT_SOURCE_DIR}/${TEST_SCRIPT} ${TEST_ARGS})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 ${LOCKSTEP_TEST_ENVIRONMENT}
                                          ${TEST_PROPERTIES})
endfunction()
