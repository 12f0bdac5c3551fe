// Entry point of the `syscall` instruction: rip is in rcx, rflags in r11, rsp still is the user's
// (Intel SDM vol. 2B, SYSCALL). Number in rax, arguments in rdi and rsi, result in rax; the
// caller-saved registers are lost.
#include "arch/asm.h"

    .text
FUNCTION(syscall_entry)
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)             // the kernel stack ends here; ring 3 is not its caller
    swapgs
    movq %rsp, %gs:CPU_USER_RSP
    movq %gs:CPU_KERNEL_STACK, %rsp
    pushq %gs:CPU_USER_RSP
    pushq %r11
    pushq %rcx
    pushq %rbp
    xorl %ebp, %ebp                     // ends the chain of frame pointers
    sti
    movq %rax, %rdx
    call syscall_dispatch
    cli
    popq %rbp
    popq %rcx
    popq %r11
    popq %rsp
    swapgs
    sysretq
    CFI(.cfi_endproc)
END(syscall_entry)

// enter_user(rip, rsp): the first entry of a process into ring 3.
FUNCTION(enter_user)
    CFI(.cfi_startproc)
    cli
    pushq $0x1b                         // user data selector
    CFI(.cfi_adjust_cfa_offset 8)
    pushq %rsi
    CFI(.cfi_adjust_cfa_offset 8)
    pushq $0x202                        // rflags: IF
    CFI(.cfi_adjust_cfa_offset 8)
    pushq $0x23                         // user code selector
    CFI(.cfi_adjust_cfa_offset 8)
    pushq %rdi
    CFI(.cfi_adjust_cfa_offset 8)
    swapgs
    iretq
    CFI(.cfi_endproc)
END(enter_user)
    .section .note.GNU-stack, "", @progbits
