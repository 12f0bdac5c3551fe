// A small kernel-like program: a build id (from the linker), a banner, functions and labels.
    .text
    .globl _start
    .type _start, @function
_start:
    .cfi_startproc
    nop
    ret
    .cfi_endproc
    .size _start, . - _start
    .globl asm_label
asm_label:
    nop
inner_label:
    ret
    .type local_function, @function
local_function:
    .fill 600, 1, 0x90
    ret
    .size local_function, . - local_function
    .globl global_alias
    .type global_alias, @function
    .set global_alias, local_function
    .size global_alias, 601
    .weak a_weak_alias
    .type a_weak_alias, @function
    .set a_weak_alias, local_function

    .section .rodata
    .globl linux_banner
    .type linux_banner, @object
linux_banner:
    .asciz "Linux version 6.1.0-test (someone@somewhere) #1 SMP\n"
    .size linux_banner, . - linux_banner

    .section .debug_text, "", @progbits
    .fill 4000, 1, 0x41
    .section .note.GNU-stack, "", @progbits
