# shellcheck shell=bash
# Which unit tests script/test and script/prove run in which build, as ctest's -R and -E have it.
# shellcheck disable=SC2034 # the reader uses them
# With optimisation, where they are built: a compiler's arithmetic could change what they do, or they bound memory, or begin
# ringside often. script/test builds unwind_tests and plugin_tests with sanitizers alone.
optimised='^((unwind|unwind_cases|plugin|cli)\.|(document_commands|manual_options)$)'
# Not with sanitizers: they unwind at every instruction, or through many kernels, or begin ringside often.
too_slow='^(document_commands|manual_options)$|SingleStep|^unwind_cases.(UnwindCasesTotals$|.*WrongReturnAddresses)|UnwindCases.2$'
