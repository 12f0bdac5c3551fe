// switch_to(u64* save_rsp, u64 next_rsp): leaves one thread inside this function and comes back
// inside it in another.
//
// Both stacks have the same layout here, so the call-frame information holds across the change of
// rsp. %rbp is a proper frame record throughout: the old thread's until rsp has changed, then the
// new thread's.
#include "arch/asm.h"
#include "arch/registers.inc"

    .text
FUNCTION(switch_to)
    CFI(.cfi_startproc)
    PUSH rbp
    movq %rsp, %rbp
    PUSH rbx
    PUSH r12
    PUSH r13
    PUSH r14
    PUSH r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    leaq 40(%rsp), %rbp
    POP r15
    POP r14
    POP r13
    POP r12
    POP rbx
    POP rbp
    ret
    CFI(.cfi_endproc)
END(switch_to)

// The first function of every thread. A new thread's switch_to returns to thread_start + 1: a
// return address is looked up minus one, and that must still be thread_start. rbx = function, r12 =
// its argument, rbp = 0.
FUNCTION(thread_start)
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    nop
    sti
    movq %r12, %rdi
    call *%rbx
    ud2
    CFI(.cfi_endproc)
END(thread_start)
    .section .note.GNU-stack, "", @progbits
