# The programs of dwarf_types_test.cpp: btf/testdata's structures behind a unit that only declares them, compiled in the
# ways that make compilers and tools write types differently. RINGSIDE_DWARF_TYPES are their names, separated by blanks.
set(RINGSIDE_DWARF_TYPES_FOLDER ${CMAKE_CURRENT_BINARY_DIR}/dwarf_types)
file(MAKE_DIRECTORY ${RINGSIDE_DWARF_TYPES_FOLDER})
set(sources ${CMAKE_CURRENT_SOURCE_DIR}/dwarf/testdata/declared.c ${CMAKE_CURRENT_SOURCE_DIR}/btf/testdata/structures.c)
set(names)

function(ringside_dwarf_types name compiler)
  add_custom_command(OUTPUT ${RINGSIDE_DWARF_TYPES_FOLDER}/${name}
    COMMAND ${compiler} -nostdlib -static -no-pie -w -Wl,-e,0 -Wl,-z,noexecstack ${ARGN} -o ${name} ${sources}
    DEPENDS ${sources} ${CMAKE_CURRENT_SOURCE_DIR}/btf/testdata/structures.h
    WORKING_DIRECTORY ${RINGSIDE_DWARF_TYPES_FOLDER} VERBATIM)
  set(names ${names} ${name} PARENT_SCOPE)
endfunction()

function(ringside_dwarf_types_of name other)
  add_custom_command(OUTPUT ${RINGSIDE_DWARF_TYPES_FOLDER}/${name} COMMAND ${ARGN}
    DEPENDS ${RINGSIDE_DWARF_TYPES_FOLDER}/${other} WORKING_DIRECTORY ${RINGSIDE_DWARF_TYPES_FOLDER} VERBATIM)
  set(names ${names} ${name} PARENT_SCOPE)
endfunction()

# A variable and templates, in C++.
set(tables)
foreach(compiler gcc ${RINGSIDE_DWARF_CLANG})
  get_filename_component(table ${compiler} NAME_WE)
  set(table table_${table})
  add_custom_command(OUTPUT ${RINGSIDE_DWARF_TYPES_FOLDER}/${table}
    COMMAND ${compiler} -nostdlib -static -no-pie -Wl,-e,0 -Wl,-z,noexecstack -g -o ${table} -I${PROJECT_SOURCE_DIR}/src
      ${CMAKE_CURRENT_SOURCE_DIR}/dwarf/testdata/table.cpp
    DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/dwarf/testdata/table.cpp ${CMAKE_CURRENT_SOURCE_DIR}/dwarf/testdata/table.h
    WORKING_DIRECTORY ${RINGSIDE_DWARF_TYPES_FOLDER} VERBATIM)
  list(APPEND tables ${table})
endforeach()

foreach(version 2 3 4 5)
  ringside_dwarf_types(gcc_${version} gcc -gdwarf-${version})
  ringside_dwarf_types(clang_${version} ${RINGSIDE_DWARF_CLANG} -gdwarf-${version} -fno-eliminate-unused-debug-types)
endforeach()
ringside_dwarf_types(gcc_strict gcc -gdwarf-4 -gstrict-dwarf)
ringside_dwarf_types(gcc_dwarf64 gcc -gdwarf-5 -gdwarf64)
ringside_dwarf_types(gcc_types gcc -gdwarf-5 -fdebug-types-section)
ringside_dwarf_types(gcc_32 gcc -g -m32)
ringside_dwarf_types_of(zlib gcc_5 objcopy --compress-debug-sections=zlib gcc_5 zlib)
ringside_dwarf_types_of(dwz gcc_5 ${RINGSIDE_DWZ} --odr -o dwz gcc_5)
ringside_dwarf_types_of(dwz_multi gcc_4 sh -c
  "cp gcc_4 dwz_multi && cp gcc_4 dwz_other && dwz -m dwz_common.debug dwz_multi dwz_other && readelf -S dwz_multi | grep -q gnu_debugaltlink")
list(JOIN names " " RINGSIDE_DWARF_TYPES)
list(JOIN tables " " RINGSIDE_DWARF_TABLES)
list(APPEND names ${tables})
list(TRANSFORM names PREPEND ${RINGSIDE_DWARF_TYPES_FOLDER}/)
add_custom_target(dwarf_types DEPENDS ${names})
