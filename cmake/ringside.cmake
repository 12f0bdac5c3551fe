# Everything a folder of ringside needs to declare itself in a few lines:
#
#   ringside_library(elf SOURCES elf_file.cpp … DEPS base LIBS PkgConfig::ELF)
#   ringside_tests(elf SOURCES elf_file_test.cpp … DEPS elf)
#   ringside_fuzzer(elf_file SOURCE elf_file_fuzzer.cpp CORPUS testdata/corpus DEPS elf)
#   ringside_benchmark(unwind SOURCES unwind_bench.cpp DEPS unwind)

option(RINGSIDE_WERROR "Treat warnings as errors" OFF)
option(RINGSIDE_DEMO "Build the bundled kernel, and the tests that boot guests" ON)
option(RINGSIDE_EXAMPLES "Build the examples of the libraries" ${BUILD_TESTING})
option(RINGSIDE_BENCH "Build the benchmarks of the libraries" OFF)
option(RINGSIDE_PRECOMPILED "Precompile the headers that most files include" OFF)
option(RINGSIDE_LIBFUZZER "Link fuzzers with libFuzzer (clang) instead of the replaying main" OFF)
set(RINGSIDE_SANITIZE "" CACHE STRING "Value of -fsanitize= for everything that runs on the host")
option(RINGSIDE_LONG_UNITS "The unit tests that take longest, and what they alone read" ON)
include(${CMAKE_CURRENT_LIST_DIR}/time_limits.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/large_pages.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/ci_tests.cmake)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Tools that make a build faster are used where they are installed: a cache of compiled files, and a fast linker.
find_program(CCACHE ccache)
if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
  ringside_large_pages(environment)
  if(CCACHE AND RINGSIDE_PRECOMPILED) # nothing of what is compiled with those would be kept without this laxness
    list(APPEND environment CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1)
  endif()
  if(environment)
    set(CMAKE_CXX_COMPILER_LAUNCHER env ${environment})
  endif()
  if(CCACHE)
    list(APPEND CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()
find_program(LLD ld.lld)

find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tl-expected REQUIRED)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(CAPSTONE REQUIRED IMPORTED_TARGET capstone)
if(BUILD_TESTING)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()

file(REMOVE ${PROJECT_BINARY_DIR}/fuzzers.txt)

add_library(ringside_options INTERFACE)
target_include_directories(ringside_options INTERFACE ${PROJECT_SOURCE_DIR}/src)
target_compile_features(ringside_options INTERFACE cxx_std_20)
target_compile_options(ringside_options INTERFACE -Wall -Wextra -Wshadow -Wconversion
                       -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual)
target_compile_definitions(ringside_options INTERFACE _FILE_OFFSET_BITS=64)
if(RINGSIDE_WERROR)
  target_compile_options(ringside_options INTERFACE -Werror)
endif()
if(RINGSIDE_SANITIZE)
  target_compile_options(ringside_options INTERFACE -fsanitize=${RINGSIDE_SANITIZE}
                         -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # A program at fixed addresses starts in three quarters of the time: its tables of checks need no relocation.
  target_link_options(ringside_options INTERFACE -fsanitize=${RINGSIDE_SANITIZE}
                      $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  target_compile_definitions(ringside_options INTERFACE _GLIBCXX_ASSERTIONS)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    target_compile_options(ringside_options INTERFACE
                           $<$<COMPILE_LANGUAGE:CXX>:-fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/sanitizers.ignore>)
  endif()
endif()
if(RINGSIDE_LIBFUZZER)
  target_compile_options(ringside_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(LLD)
  target_link_options(ringside_options INTERFACE -fuse-ld=lld)
endif()

# g++ looks for memory to free whenever its heap has doubled: from 500 MB on, not from 128 MB.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(ringside_options INTERFACE "SHELL:--param ggc-min-heapsize=500000")
endif()

# g++ takes an unnamed namespace of a file that another one includes for one of a header.
if(RINGSIDE_JUMBO AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(ringside_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()

# Reading headers is two thirds of what compiling a file alone costs (docs/building.md). Every file includes what it uses all
# the same (tests/include_rule.py).
if(RINGSIDE_PRECOMPILED)
  # g++ 12 takes what is inlined from them for the project's own code, and warns of std::string(a) + "a long literal" and
  # of the length of any string in find().
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(ringside_options INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
  file(GENERATE OUTPUT precompiled.cpp CONTENT "")
  set(headers <algorithm> <array> <cstdint> <cstring> <filesystem> <functional> <map> <memory> <optional> <span>
              <string> <string_view> <unordered_map> <vector> <fmt/format.h> <tl/expected.hpp>)
  foreach(own base/byte_reader.h base/result.h base/types.h elf/elf_file.h wire/capture.h)
    list(APPEND headers ${PROJECT_SOURCE_DIR}/src/${own})
  endforeach()
  add_library(ringside_precompiled OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
  target_link_libraries(ringside_precompiled PRIVATE ringside_options tl::expected fmt::fmt)
  target_precompile_headers(ringside_precompiled PRIVATE ${headers})
  if(BUILD_TESTING)
    add_library(ringside_precompiled_tests OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cpp)
    target_link_libraries(ringside_precompiled_tests PRIVATE ringside_options tl::expected fmt::fmt GTest::gmock
                          Threads::Threads)
    target_precompile_headers(ringside_precompiled_tests PRIVATE ${headers} <gmock/gmock.h> <gtest/gtest.h>)
  endif()
endif()

# A folder under src/ is one library. DEPS are other folders, LIBS are outside libraries. COLD: no time is spent in it, so that
# the compiler need not spend any on it either. (Precompiled headers are for one level of optimisation.)
function(ringside_library name)
  cmake_parse_arguments(ARG "COLD" "" "SOURCES;DEPS;LIBS" ${ARGN})
  if(ARG_SOURCES)
    add_library(ringside_${name} STATIC ${ARG_SOURCES})
    ringside_jumbo_target(ringside_${name})
    if(ARG_COLD AND NOT RINGSIDE_PRECOMPILED)
      target_compile_options(ringside_${name} PRIVATE $<$<CONFIG:RelWithDebInfo,Release>:-O1>)
    endif()
    set(scope PUBLIC)
  else()
    add_library(ringside_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  list(TRANSFORM ARG_DEPS PREPEND ringside_)
  target_link_libraries(ringside_${name} ${scope} ringside_options tl::expected fmt::fmt
                        ${ARG_DEPS} ${ARG_LIBS})
  if(RINGSIDE_PRECOMPILED AND ARG_SOURCES)
    target_precompile_headers(ringside_${name} REUSE_FROM ringside_precompiled)
  endif()
endfunction()

# Each header of these folders compiles alone, with what it includes itself: one object file each. With sanitizers they
# would only be the same again.
function(ringside_lone_headers)
  if(NOT BUILD_TESTING OR RINGSIDE_SANITIZE)
    return()
  endif()
  set(sources)
  foreach(folder ${ARGN})
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${folder}/*.h)
    list(FILTER headers EXCLUDE REGEX "/testdata/")
    foreach(header ${headers})
      string(REPLACE "/" "." source ${header}.cpp)
      file(CONFIGURE OUTPUT lone_headers/${source} CONTENT "#include \"${header}\"\n")
      list(APPEND sources ${CMAKE_CURRENT_BINARY_DIR}/lone_headers/${source})
    endforeach()
  endforeach()
  set(libraries ${ARGN})
  list(TRANSFORM libraries PREPEND ringside_)
  add_library(ringside_lone_headers OBJECT ${sources})
  target_link_libraries(ringside_lone_headers PRIVATE ${libraries} ringside_guest GTest::gtest)
  target_compile_options(ringside_lone_headers PRIVATE -O0 -g0)
endfunction()

# One test program per folder. LABEL is "unit" (each suite is a test of ctest's, named folder.Suite), or
# "guest" for tests that boot a QEMU (each case is one, two at a time; the target guest_test_programs builds them, and there
# are none without RINGSIDE_DEMO).
add_custom_target(guest_test_programs)
add_custom_target(more_guest_test_programs) # also the programs whose tests all have the label `more`
add_dependencies(more_guest_test_programs guest_test_programs)
function(ringside_tests name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "LABEL" "SOURCES;DEPS;LIBS" ${ARGN})
  if(ARG_LABEL STREQUAL "guest" AND NOT RINGSIDE_DEMO)
    return()
  endif()
  list(TRANSFORM ARG_DEPS PREPEND ringside_)
  add_executable(${name}_tests ${ARG_SOURCES})
  ringside_jumbo_target(${name}_tests)
  target_link_libraries(${name}_tests PRIVATE ${ARG_DEPS} ${ARG_LIBS} GTest::gmock GTest::gtest_main
                        Threads::Threads)
  if(RINGSIDE_PRECOMPILED)
    target_precompile_headers(${name}_tests REUSE_FROM ringside_precompiled_tests)
  endif()
  target_compile_definitions(${name}_tests PRIVATE
    RINGSIDE_TESTDATA="${CMAKE_CURRENT_SOURCE_DIR}/testdata")
  if(ARG_LABEL STREQUAL "guest")
    gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." TEST_LIST ${name}_listed
                         DISCOVERY_TIMEOUT ${ringside_listing_seconds} PROPERTIES LABELS guest)
    ringside_limit_properties(guest limits)
    file(CONFIGURE OUTPUT ${name}_limits.cmake @ONLY CONTENT
         "if(@name@_listed)\n  set_tests_properties(\${@name@_listed} PROPERTIES @limits@)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_limits.cmake)
    add_dependencies(guest_test_programs ${name}_tests)
    return()
  endif()
  set(suites ${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake)
  add_custom_command(TARGET ${name}_tests POST_BUILD BYPRODUCTS ${suites}
    COMMAND ${CMAKE_COMMAND} -D PROGRAM=$<TARGET_FILE:${name}_tests> -D PREFIX=${name} -D LONG=${RINGSIDE_LONG_UNITS}
            -D OUTPUT=${suites}
            -P ${PROJECT_SOURCE_DIR}/cmake/discover_suites.cmake VERBATIM)
  # A program that was not built has no tests, and script/test builds those that it runs.
  ringside_limit_properties(unit limits)
  file(CONFIGURE OUTPUT ${name}_include.cmake CONTENT "set(limits ${limits})\ninclude(\"${suites}\" OPTIONAL)\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake)
endfunction()

# A fuzzer is compiled in every build. With libFuzzer each is a program. Without it all are in one, which replays the files
# that it is given through one of them; each corpus is replayed as an ordinary test.
function(ringside_fuzzer name)
  if(NOT BUILD_TESTING)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SOURCE;CORPUS" "DEPS;LIBS" ${ARGN})
  list(TRANSFORM ARG_DEPS PREPEND ringside_)
  set(corpus ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_CORPUS})
  if(RINGSIDE_LIBFUZZER)
    add_executable(${name}_fuzzer ${ARG_SOURCE})
    target_link_options(${name}_fuzzer PRIVATE -fsanitize=fuzzer)
    # For script/fuzz: name, program, corpus.
    file(APPEND ${PROJECT_BINARY_DIR}/fuzzers.txt "${name} ${CMAKE_CURRENT_BINARY_DIR}/${name}_fuzzer ${corpus}\n")
  else()
    add_library(${name}_fuzzer OBJECT ${ARG_SOURCE})
    target_compile_definitions(${name}_fuzzer PRIVATE LLVMFuzzerTestOneInput=ringside_fuzz_${name})
    set_property(GLOBAL APPEND PROPERTY ringside_fuzzers ${name})
    add_test(NAME fuzz.${name} COMMAND ringside_replay ${name} ${corpus})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
    ringside_limit(unit fuzz.${name})
  endif()
  target_link_libraries(${name}_fuzzer PRIVATE ${ARG_DEPS} ${ARG_LIBS})
  if(RINGSIDE_PRECOMPILED)
    target_precompile_headers(${name}_fuzzer REUSE_FROM ringside_precompiled)
  endif()
endfunction()

# Behind all fuzzers: the program that replays their corpora.
function(ringside_replay)
  get_property(fuzzers GLOBAL PROPERTY ringside_fuzzers)
  if(NOT fuzzers)
    return()
  endif()
  list(TRANSFORM fuzzers REPLACE "(.+)" "FUZZER(\\1)" OUTPUT_VARIABLE lines)
  list(JOIN lines "\n" lines)
  file(CONFIGURE OUTPUT fuzzers.inc CONTENT "${lines}\n")
  list(TRANSFORM fuzzers APPEND _fuzzer)
  add_executable(ringside_replay ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
  target_include_directories(ringside_replay PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(ringside_replay PRIVATE ringside_options ${fuzzers})
endfunction()

# A program with Google Benchmark and a main() of its own.
function(ringside_benchmark name)
  if(NOT RINGSIDE_BENCH)
    return()
  endif()
  find_package(benchmark REQUIRED)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM ARG_DEPS PREPEND ringside_)
  add_executable(${name}_bench ${ARG_SOURCES})
  target_link_libraries(${name}_bench PRIVATE ${ARG_DEPS} ${ARG_LIBS} benchmark::benchmark)
endfunction()
