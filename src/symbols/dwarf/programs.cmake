# The programs of symbolizer_test.cpp: a few sources, built in the ways that make compilers and tools
# write their debug information differently. RINGSIDE_DWARF_PROGRAMS are their names; a pair
# "name=other" has the code of the program "other", whose answers it must give: llvm-symbolizer 14
# reads some kinds worse than ringside does (only one .dwo file of gcc's, no alternate files).
set(RINGSIDE_DWARF_PROGRAMS)
set(RINGSIDE_DWARF_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/dwarf)
set(source ${CMAKE_CURRENT_SOURCE_DIR}/dwarf/testdata)
find_program(RINGSIDE_DWARF_CLANG NAMES clang clang-14 REQUIRED)
find_program(RINGSIDE_DWZ dwz REQUIRED)
find_program(RINGSIDE_LLVM_SYMBOLIZER NAMES llvm-symbolizer llvm-symbolizer-14 REQUIRED)
find_program(RINGSIDE_LLVM_DWP NAMES llvm-dwp llvm-dwp-14 REQUIRED)
file(MAKE_DIRECTORY ${RINGSIDE_DWARF_FOLDER})

set(RINGSIDE_DWARF_FLAGS -ffreestanding -fno-stack-protector -fno-exceptions
    -fno-asynchronous-unwind-tables -nostdlib -static -no-pie -w -Wl,-z,noexecstack -I${source})

function(ringside_dwarf_program name compiler language)
  if(language STREQUAL "c")
    set(sources ${source}/calls.c ${source}/other.c)
  else()
    set(sources ${source}/calls.cpp -x c ${source}/other.c)
  endif()
  add_custom_command(OUTPUT ${RINGSIDE_DWARF_FOLDER}/${name}
    COMMAND ${compiler} ${RINGSIDE_DWARF_FLAGS} -o ${name} ${ARGN} ${sources} -x none
    DEPENDS ${source}/calls.h ${source}/removed.c ${source}/calls.c ${source}/calls.cpp ${source}/other.c
    WORKING_DIRECTORY ${RINGSIDE_DWARF_FOLDER} VERBATIM)
  set(RINGSIDE_DWARF_PROGRAMS ${RINGSIDE_DWARF_PROGRAMS} ${name} PARENT_SCOPE)
endfunction()

# `name` is made of `other` by commands of a shell, one a line.
function(ringside_dwarf_derived name other commands)
  string(STRIP "${commands}" command)
  string(REGEX REPLACE "\n *" " && " command "${command}")
  add_custom_command(OUTPUT ${RINGSIDE_DWARF_FOLDER}/${name}
    COMMAND sh -c ${command}
    DEPENDS ${RINGSIDE_DWARF_FOLDER}/${other} WORKING_DIRECTORY ${RINGSIDE_DWARF_FOLDER} VERBATIM)
  set(RINGSIDE_DWARF_PROGRAMS ${RINGSIDE_DWARF_PROGRAMS} ${name}=${other} PARENT_SCOPE)
endfunction()

set(clang ${RINGSIDE_DWARF_CLANG})
set(program_of_gcc gcc)
set(program_of_clang ${clang})
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

# A linker removes a function, and leaves its debug information behind: where the program has none
# of its own code, and where it has some. RINGSIDE_DWARF_MOVED are the latter.
set(RINGSIDE_DWARF_MOVED)
foreach(version 4 5)
  foreach(compiler gcc clang)
    set(name removed_${compiler}_${version})
    set(how -O2 -gdwarf-${version} -ffunction-sections -Wl,--gc-sections -Wl,--build-id=none -Wl,-u,bare_code
        ${source}/removed.c)
    ringside_dwarf_program(${name} ${program_of_${compiler}} c ${how} -Wl,-Ttext=0x500000)
    foreach(place 0 0x40)
      ringside_dwarf_program(${name}_at_${place} ${program_of_${compiler}} c ${how} -Wl,-Ttext=${place})
      list(POP_BACK RINGSIDE_DWARF_PROGRAMS moved)
      list(APPEND RINGSIDE_DWARF_MOVED ${moved})
    endforeach()
  endforeach()
endforeach()

# Debug information in other files than the program's. The tests' debug folder is ./debug.
set(id_c 12ab34567890abcdef)
set(id_cpp 12cd34567890abcdef)
foreach(language c cpp)
  set(from gcc_${language}_id)
  ringside_dwarf_program(${from} gcc ${language} -O2 -g -Wl,--build-id=0x${id_${language}})
  string(SUBSTRING ${id_${language}} 2 -1 rest)
  ringside_dwarf_derived(by_build_id_${language} ${from} "
    mkdir -p debug/.build-id/12
    objcopy --only-keep-debug ${from} debug/.build-id/12/${rest}.debug
    strip -s -o by_build_id_${language} ${from}")
  set(from gcc_${language}_5)
  ringside_dwarf_derived(by_link_${language} ${from} "
    objcopy --only-keep-debug ${from} by_link_${language}.debug
    objcopy -S --add-gnu-debuglink=by_link_${language}.debug ${from} by_link_${language}")
  ringside_dwarf_derived(by_link_below_${language} ${from} "
    mkdir -p .debug
    objcopy --only-keep-debug ${from} .debug/by_link_below_${language}.debug
    objcopy -S --add-gnu-debuglink=.debug/by_link_below_${language}.debug ${from} by_link_below_${language}")
  ringside_dwarf_derived(by_link_far_${language} ${from} "
    mkdir -p debug/$PWD
    objcopy --only-keep-debug ${from} debug/$PWD/by_link_far_${language}.debug
    objcopy -S --add-gnu-debuglink=debug/$PWD/by_link_far_${language}.debug ${from} by_link_far_${language}")
  ringside_dwarf_derived(eu_strip_${language} gcc_${language}_4
    "eu-strip -f eu_strip_${language}.debug -o eu_strip_${language} gcc_${language}_4")
  # dwz alone moves what units share into partial units, dwz -m what files share into a third one.
  ringside_dwarf_derived(dwz_${language} gcc_${language}_5
    "dwz --odr -o dwz_${language} gcc_${language}_5")
  ringside_dwarf_derived(dwz_multi_${language} gcc_${language}_4 "
    cp gcc_${language}_4 dwz_multi_${language}
    cp gcc_${language}_4 dwz_other_${language}
    dwz -m dwz_common_${language}.debug dwz_multi_${language} dwz_other_${language}
    readelf -S dwz_multi_${language} | grep -q gnu_debugaltlink")

  # Split units, and the same in a package, without the .dwo files that it was made of.
  list(JOIN RINGSIDE_DWARF_FLAGS " " flags)
  set(sources "${source}/calls.c ${source}/other.c")
  if(language STREQUAL "cpp")
    set(sources "${source}/calls.cpp -x c ${source}/other.c -x none")
  endif()
  foreach(version 4 5)
    foreach(compiler gcc clang)
      foreach(kind split package)
        set(name ${compiler}_${language}_${kind}${version})
        set(locations)
        if(compiler STREQUAL "gcc" AND kind STREQUAL "package")
          set(locations -fno-var-tracking)  # llvm-dwp 19 does not end at the location lists of g++ 14
        endif()
        set(commands "rm -rf ${name}_parts
          mkdir ${name}_parts
          cd ${name}_parts
          ${program_of_${compiler}} ${flags} -O2 -gdwarf-${version} -gsplit-dwarf ${locations} -o program ${sources}
          cp program ../${name}")
        if(kind STREQUAL "package")
          string(APPEND commands "
            ${RINGSIDE_LLVM_DWP} -e program -o ../${name}.dwp
            rm *.dwo")
        endif()
        ringside_dwarf_derived(${name} ${compiler}_${language}_${version} "${commands}")
      endforeach()
    endforeach()
  endforeach()
endforeach()
