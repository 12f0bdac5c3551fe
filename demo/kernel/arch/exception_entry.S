// Entry points of the exceptions. All are fatal here: print and leave.
#include "arch/asm.h"

    .macro EXCEPTION_ENTRY vector, has_error_code
FUNCTION(exception_entry_\vector)
    CFI(.cfi_startproc simple)
    CFI(.cfi_signal_frame)
    .if \has_error_code
    CFI(.cfi_def_cfa rsp, 48)
    .else
    CFI(.cfi_def_cfa rsp, 40)
    .endif
    CFI(.cfi_offset rip, -40)
    CFI(.cfi_offset rsp, -16)
    .if \has_error_code == 0
    pushq $0
    CFI(.cfi_adjust_cfa_offset 8)
    .endif
    pushq $\vector
    CFI(.cfi_adjust_cfa_offset 8)
    jmp exception_common
    CFI(.cfi_endproc)
END(exception_entry_\vector)
    .endm

    .text
    .irp vector, 0, 1, 2, 3, 4, 5, 6, 7, 9, 15, 16, 18, 19, 20, 22, 23, 24, 25, 26, 27, 28, 31
    EXCEPTION_ENTRY \vector, 0
    .endr
    .irp vector, 8, 10, 11, 12, 13, 14, 17, 21, 29, 30
    EXCEPTION_ENTRY \vector, 1
    .endr

FUNCTION(exception_common)
    CFI(.cfi_startproc simple)
    CFI(.cfi_signal_frame)
    CFI(.cfi_def_cfa rsp, 56)           // vector, error code, rip, cs, rflags, rsp, ss
    CFI(.cfi_offset rip, -40)
    CFI(.cfi_offset rsp, -16)
    cld
    testb $3, 24(%rsp)
    jz 1f
    swapgs
1:  movq %rsp, %rdi
    movq %cr2, %rsi
    call fatal_exception
    ud2
    CFI(.cfi_endproc)
END(exception_common)

    .section .rodata
    .p2align 3
    .globl exception_entries
exception_entries:
    .irp vector, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .quad exception_entry_\vector
    .endr
    .irp vector, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    .quad exception_entry_\vector
    .endr
    .section .note.GNU-stack, "", @progbits
