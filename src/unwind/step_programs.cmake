# The programs of single_step_test.cpp: one source, built with and without frame pointers and
# call-frame information. Each is static and freestanding, so that all of its code is known. Beside
# it lies one without symbols, for the same test and for x86/function_starts_test.cpp.
# Without the unit tests that take longest, those alone that other tests name: a test that names one
# more adds it here.
set(RINGSIDE_STEP_TARGETS)
set(step_programs_of_all_tests
    gcc_fp_O1 gcc_cfi_O0 gcc_cfi_O1 gcc_cfi_O2 gcc_cfi_O3 gcc_cfi_Os clang_cfi_O0 clang_cfi_O2 clang_cfi_Os
    i386_gcc_cfi_O2 i386_clang_cfi_O2 gcc_debug_frame i386_gcc_debug_frame)

function(ringside_step_program name compiler)
  if(NOT RINGSIDE_LONG_UNITS AND NOT name IN_LIST step_programs_of_all_tests)
    return()
  endif()
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/testdata)
  set(start ${source}/step_start.S)
  if("-m32" IN_LIST ARGN)
    set(start ${source}/step_start_i386.S)
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/step/step_${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/step
    COMMAND ${compiler} -ffreestanding -fno-stack-protector -mno-red-zone -fno-pic -no-pie -static
            -nostdlib -w ${ARGN} ${source}/step_program.c ${start} -o ${output}
    COMMAND ${CMAKE_OBJCOPY} --strip-all --remove-section=.eh_frame ${output} ${output}.stripped
    DEPENDS ${source}/step_program.c ${start} VERBATIM)
  add_custom_target(step_${name} DEPENDS ${output})
  set(RINGSIDE_STEP_TARGETS ${RINGSIDE_STEP_TARGETS} step_${name} PARENT_SCOPE)
endfunction()

set(cfi -fasynchronous-unwind-tables -fomit-frame-pointer -DWITH_CFI)
set(debug_frame -fno-asynchronous-unwind-tables -fomit-frame-pointer -g -DWITH_CFI
    -Wa,--gdwarf-5)
set(fp -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-omit-frame-pointer -g0)
find_program(RINGSIDE_STEP_GCC NAMES gcc REQUIRED)
find_program(RINGSIDE_STEP_CLANG NAMES clang clang-14)
foreach(level 0 1 2 3 s)
  ringside_step_program(gcc_cfi_O${level} ${RINGSIDE_STEP_GCC} -O${level} ${cfi})
  ringside_step_program(gcc_fp_O${level} ${RINGSIDE_STEP_GCC} -O${level} ${fp})
  if(RINGSIDE_STEP_CLANG)
    ringside_step_program(clang_cfi_O${level} ${RINGSIDE_STEP_CLANG} -O${level} ${cfi})
    ringside_step_program(clang_fp_O${level} ${RINGSIDE_STEP_CLANG} -O${level} ${fp})
  endif()
endforeach()
ringside_step_program(gcc_fp_endbr ${RINGSIDE_STEP_GCC} -O2 ${fp} -fcf-protection=full)
ringside_step_program(gcc_debug_frame ${RINGSIDE_STEP_GCC} -O2 ${debug_frame})

# No 32-bit library is needed: gcc and clang for x86_64 make i386 code too.
foreach(level 0 1 2 s)
  ringside_step_program(i386_gcc_cfi_O${level} ${RINGSIDE_STEP_GCC} -m32 -O${level} ${cfi})
  ringside_step_program(i386_gcc_fp_O${level} ${RINGSIDE_STEP_GCC} -m32 -O${level} ${fp})
  if(RINGSIDE_STEP_CLANG)
    ringside_step_program(i386_clang_cfi_O${level} ${RINGSIDE_STEP_CLANG} -m32 -O${level} ${cfi})
    ringside_step_program(i386_clang_fp_O${level} ${RINGSIDE_STEP_CLANG} -m32 -O${level} ${fp})
  endif()
endforeach()
ringside_step_program(i386_gcc_debug_frame ${RINGSIDE_STEP_GCC} -m32 -O2 ${debug_frame})

# Handlers that compilers make, for compiled_handlers_test.cpp.
function(ringside_handlers name compiler)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/testdata/handlers.c)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/step/handlers_${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/step
    COMMAND ${compiler} -ffreestanding -fno-stack-protector -mno-red-zone -mgeneral-regs-only -fno-pic -no-pie -static -nostdlib
            -fcf-protection=none -O2 -fomit-frame-pointer -fasynchronous-unwind-tables -w ${ARGN} ${source} -o ${output}
    DEPENDS ${source} VERBATIM)
  add_custom_target(step_handlers_${name} DEPENDS ${output})
  set(RINGSIDE_STEP_HANDLERS ${RINGSIDE_STEP_HANDLERS} step_handlers_${name} PARENT_SCOPE)
endfunction()
foreach(compiler gcc clang)
  string(TOUPPER ${compiler} variable)
  if(RINGSIDE_STEP_${variable})
    ringside_handlers(${compiler} ${RINGSIDE_STEP_${variable}})
    ringside_handlers(${compiler}_i386 ${RINGSIDE_STEP_${variable}} -m32)
  endif()
endforeach()

# The same source, and assembly with exact call-frame information, for architectures that call
# through a link register, for link_register/agreement_test.cpp. Their code is read, not run.
set(RINGSIDE_LINK_TARGETS)

function(ringside_link_program name source)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/testdata/${source})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/step/link_${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/step
    COMMAND ${RINGSIDE_STEP_CLANG} -ffreestanding -fno-pic -static -nostdlib -w -fuse-ld=lld
            -fasynchronous-unwind-tables -Wl,-e,leaf -Wl,--unresolved-symbols=ignore-all ${ARGN}
            ${source} -o ${output}
    DEPENDS ${source} VERBATIM)
  add_custom_target(link_${name} DEPENDS ${output})
  set(RINGSIDE_LINK_TARGETS ${RINGSIDE_LINK_TARGETS} link_${name} PARENT_SCOPE)
endfunction()

find_program(RINGSIDE_STEP_LLD NAMES ld.lld ld.lld-14)
set(aarch64 --target=aarch64-linux-gnu -march=armv8.3-a)
set(riscv64 --target=riscv64-linux-gnu -march=rv64gc -mabi=lp64d -mno-relax)
if(RINGSIDE_STEP_CLANG AND RINGSIDE_STEP_LLD)
  ringside_link_program(aarch64_exact link_aarch64.S ${aarch64})
  ringside_link_program(riscv64_exact link_riscv64.S ${riscv64})
  foreach(level 0 1 2 3 s)
    ringside_link_program(aarch64_O${level} step_program.c ${aarch64} -O${level} -fomit-frame-pointer)
    ringside_link_program(aarch64_fp_O${level} step_program.c ${aarch64} -O${level}
                          -fno-omit-frame-pointer -mbranch-protection=pac-ret)
    ringside_link_program(riscv64_O${level} step_program.c ${riscv64} -O${level} -fomit-frame-pointer)
    ringside_link_program(riscv64_fp_O${level} step_program.c ${riscv64} -O${level}
                          -fno-omit-frame-pointer)
  endforeach()
endif()

# The program of user_process_test.cpp, linked to the host's C library in every way.
set(RINGSIDE_USER_TARGETS)

function(ringside_user_program name compiler source)
  set(source ${CMAKE_CURRENT_SOURCE_DIR}/testdata/${source})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/step/${name})
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/step
    COMMAND ${compiler} -O2 -w ${source} ${ARGN} -o ${output}
    DEPENDS ${source} VERBATIM)
  add_custom_target(${name} DEPENDS ${output})
  set(RINGSIDE_USER_TARGETS ${RINGSIDE_USER_TARGETS} ${name} PARENT_SCOPE)
endfunction()

ringside_user_program(user_dynamic ${RINGSIDE_STEP_GCC} user_program.c -DPLUGIN -fPIE -pie -ldl)
ringside_user_program(user_dynamic_fp ${RINGSIDE_STEP_GCC} user_program.c -DPLUGIN -fno-omit-frame-pointer -no-pie -ldl)
ringside_user_program(user_static ${RINGSIDE_STEP_GCC} user_program.c -static)
ringside_user_program(user_static_pie ${RINGSIDE_STEP_GCC} user_program.c -static-pie -fPIE)
ringside_user_program(user_plugin.so ${RINGSIDE_STEP_GCC} user_plugin.c -shared -fPIC)
# musl's code has no call-frame information, and its shared library symbols of what it exports only.
find_program(RINGSIDE_MUSL_GCC NAMES musl-gcc)
if(RINGSIDE_MUSL_GCC)
  ringside_user_program(user_musl_dynamic ${RINGSIDE_MUSL_GCC} user_program.c -DPLUGIN -fPIE -pie)
  ringside_user_program(user_musl_static ${RINGSIDE_MUSL_GCC} user_program.c -static)
endif()
