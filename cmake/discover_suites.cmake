# Writes a file with a test of ctest's for each suite of a GoogleTest program: one process a suite, for
# starting a program with sanitizers takes longer than most cases do.
#
#   cmake -D PROGRAM=FILE -D PREFIX=NAME -D OUTPUT=FILE -P discover_suites.cmake
execute_process(COMMAND ${PROGRAM} --gtest_list_tests OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[A-Za-z0-9_/]+\\.( |\n|$)" suites "${listing}")
if(NOT suites)
  message(FATAL_ERROR "${PROGRAM} --gtest_list_tests names no suite")
endif()
set(tests)
foreach(suite IN LISTS suites)
  string(REGEX REPLACE "[\n. ]" "" suite "${suite}")
  string(REPLACE "/" "." name "${suite}")
  string(APPEND tests "add_test([==[${PREFIX}.${name}]==] \"${PROGRAM}\" \"--gtest_filter=${suite}.*\")
set_tests_properties([==[${PREFIX}.${name}]==] PROPERTIES LABELS unit TIMEOUT 300)
")
endforeach()
file(WRITE ${OUTPUT} "${tests}")
