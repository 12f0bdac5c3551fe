# The programs of symbolizer_test.cpp: a few sources, built in the ways that make compilers and tools
# write their debug information differently. RINGSIDE_DWARF_PROGRAMS are their names; a pair
# "name=other" has the code of the program "other", whose answers it must give.
set(RINGSIDE_DWARF_PROGRAMS)
set(RINGSIDE_DWARF_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/dwarf)
set(source ${CMAKE_CURRENT_SOURCE_DIR}/dwarf/testdata)
find_program(RINGSIDE_DWARF_CLANG NAMES clang clang-14 REQUIRED)
find_program(RINGSIDE_DWZ dwz REQUIRED)
find_program(RINGSIDE_LLVM_SYMBOLIZER NAMES llvm-symbolizer llvm-symbolizer-14 REQUIRED)
find_program(RINGSIDE_LLVM_DWP NAMES llvm-dwp llvm-dwp-14 REQUIRED)
file(MAKE_DIRECTORY ${RINGSIDE_DWARF_FOLDER})

function(ringside_dwarf_program name compiler language)
  if(language STREQUAL "c")
    set(sources ${source}/calls.c ${source}/other.c)
  else()
    set(sources ${source}/calls.cpp -x c ${source}/other.c)
  endif()
  add_custom_command(OUTPUT ${RINGSIDE_DWARF_FOLDER}/${name}
    COMMAND ${compiler} -ffreestanding -fno-stack-protector -fno-exceptions
            -fno-asynchronous-unwind-tables -nostdlib -static -no-pie -w -Wl,-z,noexecstack -I${source}
            -o ${name} ${ARGN} ${sources} -x none
    DEPENDS ${source}/calls.h ${source}/calls.c ${source}/calls.cpp ${source}/other.c
    WORKING_DIRECTORY ${RINGSIDE_DWARF_FOLDER} VERBATIM)
  set(RINGSIDE_DWARF_PROGRAMS ${RINGSIDE_DWARF_PROGRAMS} ${name} PARENT_SCOPE)
endfunction()

# `name` is made of `other` by a command of a shell.
function(ringside_dwarf_derived name other command)
  add_custom_command(OUTPUT ${RINGSIDE_DWARF_FOLDER}/${name}
    COMMAND sh -ec ${command}
    DEPENDS ${RINGSIDE_DWARF_FOLDER}/${other} WORKING_DIRECTORY ${RINGSIDE_DWARF_FOLDER} VERBATIM)
  set(RINGSIDE_DWARF_PROGRAMS ${RINGSIDE_DWARF_PROGRAMS} ${name}=${other} PARENT_SCOPE)
endfunction()

set(clang ${RINGSIDE_DWARF_CLANG})
foreach(language c cpp)
  foreach(version 2 3 4 5)
    ringside_dwarf_program(gcc_${language}_${version} gcc ${language} -O2 -gdwarf-${version})
    ringside_dwarf_program(clang_${language}_${version} ${clang} ${language} -O2
                           -gdwarf-${version})
  endforeach()
  ringside_dwarf_program(gcc_${language}_strict gcc ${language} -O2 -gdwarf-4 -gstrict-dwarf)
  ringside_dwarf_program(gcc_${language}_O0 gcc ${language} -O0 -g)
  ringside_dwarf_program(gcc_${language}_O3 gcc ${language} -O3 -g)
  ringside_dwarf_program(gcc_${language}_lto gcc ${language} -O2 -g -flto)
  ringside_dwarf_program(gcc_${language}_dwarf64 gcc ${language} -O2 -gdwarf-5 -gdwarf64)
  ringside_dwarf_program(gcc_${language}_sections gcc ${language} -O2 -g -ffunction-sections
                         -Wl,--gc-sections)
  ringside_dwarf_program(gcc_${language}_types gcc ${language} -O2 -g -fdebug-types-section)
  ringside_dwarf_program(gcc_${language}_types4 gcc ${language} -O2 -gdwarf-4
                         -fdebug-types-section)
  ringside_dwarf_program(clang_${language}_aranges ${clang} ${language} -O2 -g -gdwarf-aranges)
  ringside_dwarf_program(clang_${language}_lines ${clang} ${language} -O2 -gline-tables-only)
  ringside_dwarf_program(gcc_${language}_32 gcc ${language} -O2 -g -m32)
  ringside_dwarf_program(clang_${language}_32 ${clang} ${language} -O2 -gdwarf-4 -m32)
  ringside_dwarf_derived(zlib_${language} gcc_${language}_5
    "objcopy --compress-debug-sections=zlib gcc_${language}_5 zlib_${language}")
  ringside_dwarf_derived(zlib_gnu_${language} gcc_${language}_4
    "objcopy --compress-debug-sections=zlib-gnu gcc_${language}_4 zlib_gnu_${language}")
  ringside_dwarf_derived(zstd_${language} gcc_${language}_5
    "objcopy --compress-debug-sections=zstd gcc_${language}_5 zstd_${language}")
endforeach()
