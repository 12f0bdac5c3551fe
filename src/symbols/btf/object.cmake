# An object file with BTF. By gcc whatever the compiler is: clang 14 writes BTF for BPF programs only.
set(RINGSIDE_BTF_OBJECT ${CMAKE_CURRENT_BINARY_DIR}/btf_structures.o)
set(source ${CMAKE_CURRENT_SOURCE_DIR}/btf/testdata)
add_custom_command(OUTPUT ${RINGSIDE_BTF_OBJECT}
  COMMAND gcc -gbtf -c ${source}/structures.c -o ${RINGSIDE_BTF_OBJECT}
  DEPENDS ${source}/structures.c ${source}/structures.h VERBATIM)
add_custom_target(btf_object DEPENDS ${RINGSIDE_BTF_OBJECT})
