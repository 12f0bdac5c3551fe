// Entry point of the `syscall` instruction: rip is in rcx, rflags in r11, rsp still is the user's
// (Intel SDM vol. 2B, SYSCALL). Number in rax, arguments in rdi and rsi, result in rax; all other
// registers come back, but for rcx and r11. They are saved where and as an interrupt saves them.
#include "arch/asm.h"

    .text
FUNCTION(syscall_entry)
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)             // the kernel stack ends here; ring 3 is not its caller
    swapgs
    movq %rsp, %gs:CPU_USER_RSP
    movq %gs:CPU_KERNEL_STACK, %rsp
    pushq $USER_DATA
    pushq %gs:CPU_USER_RSP
    pushq %r11
    pushq $USER_CODE
    pushq %rcx
    // Not PUSH_REGISTERS: where the kernel stack ends, call-frame information says no more.
    .irp register, rdi, rsi, rdx, rcx, rax, r8, r9, r10, r11, rbx, rbp, r12, r13, r14, r15
    pushq %\register
    .endr
    xorl %ebp, %ebp                     // ends the chain of frame pointers
    sti
    movq %rax, %rdx
    call syscall_dispatch
    cli
    movq %rax, SAVED_RAX(%rsp)
    .irp register, r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi
    popq %\register
    .endr
    movq SAVED_RSP_BEHIND_RIP(%rsp), %rsp
    swapgs
    sysretq
    CFI(.cfi_endproc)
END(syscall_entry)

// enter_user(rip, rsp): the first entry of a process into ring 3. %rbp is 0 there: the end of the
// chain of frame pointers.
FUNCTION(enter_user)
    CFI(.cfi_startproc)
    cli
    pushq $USER_DATA
    CFI(.cfi_adjust_cfa_offset 8)
    pushq %rsi
    CFI(.cfi_adjust_cfa_offset 8)
    pushq $0x202                        // rflags: IF
    CFI(.cfi_adjust_cfa_offset 8)
    pushq $USER_CODE
    CFI(.cfi_adjust_cfa_offset 8)
    pushq %rdi
    CFI(.cfi_adjust_cfa_offset 8)
    xorl %ebp, %ebp
    swapgs
    iretq
    CFI(.cfi_endproc)
END(enter_user)
    .section .note.GNU-stack, "", @progbits
