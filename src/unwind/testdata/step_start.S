// The hand-written half of the stepped program: its start, an interrupt's entry stub as kernels write
// them, and functions without frames. Assembled with call-frame information when WITH_CFI is defined.
#ifdef WITH_CFI
#define CFI(...) __VA_ARGS__
#else
#define CFI(...)
#endif

    .macro FUNCTION name
    .globl \name
    .type \name, @function
\name:
    .endm
    .macro END name
    .size \name, . - \name
    .endm
    .macro PUSH reg
    pushq %\reg
    CFI(.cfi_adjust_cfa_offset 8)
    CFI(.cfi_rel_offset \reg, 0)
    .endm
    .macro POP reg
    popq %\reg
    CFI(.cfi_adjust_cfa_offset -8)
    CFI(.cfi_restore \reg)
    .endm

    .text
FUNCTION _start
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    xorl %ebp, %ebp
    andq $-16, %rsp
    call program
    CFI(.cfi_endproc)
END _start

FUNCTION exit_program
    CFI(.cfi_startproc)
    movl $0, %edi
    movl $60, %eax
    syscall
    CFI(.cfi_endproc)
END exit_program

// Enters as hardware enters: rip, cs, rflags, rsp, ss lie at rsp. Moves to the interrupt stack unless
// it is on it, with the old rsp in the top slot.
FUNCTION interrupt_entry
    CFI(.cfi_startproc simple)
    CFI(.cfi_signal_frame)
    CFI(.cfi_def_cfa rsp, 40)
    CFI(.cfi_offset rip, -40)
    CFI(.cfi_offset rsp, -16)
    cld
    PUSH rax
    PUSH rcx
    PUSH rdx
    PUSH rbx
    PUSH rsi
    PUSH rdi
    PUSH r8
    PUSH r9
    PUSH r10
    PUSH r11
    PUSH r12
    movq %rsp, %rdi
    movq %rsp, %rbx
    CFI(.cfi_def_cfa_register rbx)
    incl interrupt_depth(%rip)
    jnz 1f
    leaq interrupt_stack_slot(%rip), %rax
    movq %rsp, (%rax)
    movq %rax, %rsp
    call interrupt_handler
    popq %rsp
    decl interrupt_depth(%rip)
    jmp 2f
1:  andq $-16, %rsp
    call interrupt_handler
    movq %rbx, %rsp
    decl interrupt_depth(%rip)
2:  CFI(.cfi_def_cfa_register rsp)
    POP r12
    POP r11
    POP r10
    POP r9
    POP r8
    POP rdi
    POP rsi
    POP rbx
    POP rdx
    POP rcx
    POP rax
    iretq
    CFI(.cfi_endproc)
END interrupt_entry

// u64 call_without_frame(u64 (*function)(u64), u64 argument): neither a leaf nor a frame.
FUNCTION call_without_frame
    CFI(.cfi_startproc)
    PUSH r12
    PUSH r13
    subq $24, %rsp
    CFI(.cfi_adjust_cfa_offset 24)
    movq %rdi, %r12
    movq %rsi, %rdi
    call *%r12
    testq %rax, %rax
    jz 1f
    addq $24, %rsp
    CFI(.cfi_remember_state)
    CFI(.cfi_adjust_cfa_offset -24)
    POP r13
    POP r12
    ret
1:  CFI(.cfi_restore_state)
    incq %rax
    leaq 24(%rsp), %rsp
    CFI(.cfi_def_cfa_offset 24)         // clang 14's assembler adjusts from a wrong base here
    POP r13
    POP r12
    ret
    CFI(.cfi_endproc)
END call_without_frame


// Calls through registers as with retpolines: one symbol, entered at labels in it.
    .macro THUNK reg
    .globl thunk_\reg
thunk_\reg:
    call 2f
1:  pause
    jmp 1b
2:  CFI(.cfi_adjust_cfa_offset 8)
    movq %\reg, (%rsp)
    ret
    CFI(.cfi_adjust_cfa_offset -8)
    .endm
FUNCTION thunk_array
    CFI(.cfi_startproc)
    nop
    ret
    THUNK rcx
    THUNK rdx
    CFI(.cfi_endproc)
END thunk_array
    .globl thunk_end
thunk_end:

// u64 call_through_thunks(u64 (*function)(u64), u64 argument)
FUNCTION call_through_thunks
    CFI(.cfi_startproc)
    PUSH rbx
    movq %rdi, %rbx
    movq %rdi, %rcx
    movq %rsi, %rdi
    call thunk_rcx
    movq %rbx, %rdx
    movl $2, %edi
    call thunk_rdx
    POP rbx
    ret
    CFI(.cfi_endproc)
END call_through_thunks

// Never run: what their ways out say is looked at (exit_rule_test.cpp, stack_walk_test.cpp).
FUNCTION ways_out_agree
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    testl %edi, %edi
    jz 1f
    swapgs
1:  popq %rbp
    addq $8, %rsp
    iretq
    CFI(.cfi_endproc)
END ways_out_agree
FUNCTION ways_out_differ
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    testl %edi, %edi
    jz 1f
    iretq
1:  addq $8, %rsp
    iretq
    CFI(.cfi_endproc)
END ways_out_differ
FUNCTION makes_its_own_frame
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    .rept 5
    pushq $0
    .endr
    iretq
    CFI(.cfi_endproc)
END makes_its_own_frame
FUNCTION copies_the_frame
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    movq %rsp, %rdi
    movq %gs:8, %rsp
    .rept 5
    pushq 0x28(%rdi)
    subq $8, %rdi
    .endr
    iretq
    CFI(.cfi_endproc)
END copies_the_frame
// As clang's leaves without a red zone: the stack pointer keeps no alignment of 8.
FUNCTION takes_four_bytes
    CFI(.cfi_startproc)
    subq $4, %rsp
    CFI(.cfi_adjust_cfa_offset 4)
    movl $1, (%rsp)
    addq $4, %rsp
    CFI(.cfi_adjust_cfa_offset -4)
    ret
    CFI(.cfi_endproc)
END takes_four_bytes
FUNCTION returns_and_pops
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    addq $16, %rsp
    ret $24
    CFI(.cfi_endproc)
END returns_and_pops
FUNCTION returns_to_user_code
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    popq %rcx
    sysretq
    CFI(.cfi_endproc)
END returns_to_user_code
FUNCTION restores_user_code
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    nop
    popq %rbx
    popq %rcx
    movq 8(%rsp), %rsp
    swapgs
    sysretq
    CFI(.cfi_endproc)
END restores_user_code
FUNCTION copies_user_frame
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    nop
    popq %rbx
    movq %rsp, %rdi
    movq %gs:8, %rsp
    pushq 0x20(%rdi)
    pushq 0x18(%rdi)
    pushq 0x10(%rdi)
    pushq 0x8(%rdi)
    pushq (%rdi)
    iretq
    CFI(.cfi_endproc)
END copies_user_frame
FUNCTION never_leaves
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
1:  pushq %rax
    jmp 1b
    CFI(.cfi_endproc)
END never_leaves

    .data
    .globl interrupt_depth
interrupt_depth:
    .long -1
    .bss
    .p2align 4
    .globl interrupt_stack_slot
    .skip 32768
interrupt_stack_slot:
    .quad 0
    .quad 0
    .section .note.GNU-stack, "", @progbits
