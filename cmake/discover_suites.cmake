# Writes a file with a test of ctest's for each suite of a GoogleTest program: one process a suite, for
# starting a program with sanitizers takes longer than most cases do.
# The file that includes it sets ${limits}, with the time that they may take.
#
#   cmake -D PROGRAM=FILE -D PREFIX=NAME -D OUTPUT=FILE -P discover_suites.cmake
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\.( |\n|$)" suites "${listing}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests names no suite")
endif()
set(tests)
# add_suite(NAME SUITE [PROPERTIES as text])
function(add_suite name suite)
  string(APPEND tests "add_test([==[${name}]==] \"${PROGRAM}\" \"--gtest_filter=${suite}.*\")
set_tests_properties([==[${name}]==] PROPERTIES LABELS unit \${limits} ${ARGV2})
")
  set(tests "${tests}" PARENT_SCOPE)
endfunction()
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[\n. ]" "" suite "${suite}")
  string(REPLACE "/" "." name "${PREFIX}.${suite}")
  if(suite MATCHES "/")
    # A suite with parameters, which may be many, runs in two halves, side by side.
    add_suite(${name}.1 ${suite} "ENVIRONMENT \"GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=0\"")
    add_suite(${name}.2 ${suite} "ENVIRONMENT \"GTEST_TOTAL_SHARDS=2;GTEST_SHARD_INDEX=1\"")
  else()
    add_suite(${name} ${suite})
  endif()
endforeach()
file(WRITE ${OUTPUT} "${tests}")
