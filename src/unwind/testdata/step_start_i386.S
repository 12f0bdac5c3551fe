// step_start.S for i386: interrupts that come in ring 3 as from ring 0, without a stack pointer.
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
    pushl %\reg
    CFI(.cfi_adjust_cfa_offset 4)
    CFI(.cfi_rel_offset \reg, 0)
    .endm
    .macro POP reg
    popl %\reg
    CFI(.cfi_adjust_cfa_offset -4)
    CFI(.cfi_restore \reg)
    .endm

    .text
FUNCTION _start
    CFI(.cfi_startproc)
    CFI(.cfi_undefined eip)
    xorl %ebp, %ebp
    andl $-16, %esp
    call program
    CFI(.cfi_endproc)
END _start

FUNCTION exit_program
    CFI(.cfi_startproc)
    movl $0, %ebx
    movl $1, %eax
    int $0x80
    CFI(.cfi_endproc)
END exit_program

// Enters as hardware enters in ring 0: eip, cs, eflags lie at esp. Moves to the interrupt stack
// unless it is on it, with the old esp in the top slot.
FUNCTION interrupt_entry
    CFI(.cfi_startproc simple)
    CFI(.cfi_signal_frame)
    CFI(.cfi_def_cfa esp, 12)
    CFI(.cfi_offset eip, -12)
    cld
    PUSH eax
    PUSH ecx
    PUSH edx
    PUSH ebx
    PUSH esi
    PUSH edi
    PUSH ebp
    movl %esp, %ebx
    CFI(.cfi_def_cfa_register ebx)
    incl interrupt_depth
    jnz 1f
    movl $interrupt_stack_slot, %eax
    movl %esp, (%eax)
    movl %eax, %esp
    call interrupt_handler
    popl %esp
    decl interrupt_depth
    jmp 2f
1:  andl $-16, %esp
    call interrupt_handler
    movl %ebx, %esp
    decl interrupt_depth
2:  CFI(.cfi_def_cfa_register esp)
    POP ebp
    POP edi
    POP esi
    POP ebx
    POP edx
    POP ecx
    POP eax
    iretl
    CFI(.cfi_endproc)
END interrupt_entry

// u64 call_without_frame(u64 (*function)(u64), u64 argument): neither a leaf nor a frame.
FUNCTION call_without_frame
    CFI(.cfi_startproc)
    PUSH esi
    PUSH edi
    subl $20, %esp
    CFI(.cfi_adjust_cfa_offset 20)
    movl 32(%esp), %esi
    movl 36(%esp), %edi
    pushl %edi
    CFI(.cfi_adjust_cfa_offset 4)
    call *%esi
    addl $4, %esp
    CFI(.cfi_adjust_cfa_offset -4)
    testl %eax, %eax
    jz 1f
    addl $20, %esp
    CFI(.cfi_remember_state)
    CFI(.cfi_adjust_cfa_offset -20)
    POP edi
    POP esi
    ret
1:  CFI(.cfi_restore_state)
    incl %eax
    leal 20(%esp), %esp
    CFI(.cfi_def_cfa_offset 12)         // clang 14's assembler adjusts from a wrong base here
    POP edi
    POP esi
    ret
    CFI(.cfi_endproc)
END call_without_frame

// Saves all registers at once, as old entry code does.
FUNCTION call_with_all_saved
    CFI(.cfi_startproc)
    pushal
    CFI(.cfi_adjust_cfa_offset 32)
    CFI(.cfi_rel_offset edi, 0)
    CFI(.cfi_rel_offset esi, 4)
    CFI(.cfi_rel_offset ebp, 8)
    CFI(.cfi_rel_offset ebx, 16)
    pushl 40(%esp)
    CFI(.cfi_adjust_cfa_offset 4)
    call *40(%esp)
    addl $4, %esp
    CFI(.cfi_adjust_cfa_offset -4)
    popal
    CFI(.cfi_adjust_cfa_offset -32)
    CFI(.cfi_restore edi)
    CFI(.cfi_restore esi)
    CFI(.cfi_restore ebp)
    CFI(.cfi_restore ebx)
    ret
    CFI(.cfi_endproc)
END call_with_all_saved

// Calls through registers as with retpolines: one symbol, entered at labels in it.
    .macro THUNK reg
    .globl thunk_\reg
thunk_\reg:
    call 2f
1:  pause
    jmp 1b
2:  CFI(.cfi_adjust_cfa_offset 4)
    movl %\reg, (%esp)
    ret
    CFI(.cfi_adjust_cfa_offset -4)
    .endm
FUNCTION thunk_array
    CFI(.cfi_startproc)
    nop
    ret
    THUNK ecx
    THUNK edx
    CFI(.cfi_endproc)
END thunk_array
    .globl thunk_end
thunk_end:

// u64 call_through_thunks(u64 (*function)(u64), u64 argument)
FUNCTION call_through_thunks
    CFI(.cfi_startproc)
    PUSH ebx
    movl 8(%esp), %ebx
    movl %ebx, %ecx
    pushl 12(%esp)
    CFI(.cfi_adjust_cfa_offset 4)
    call thunk_ecx
    movl %ebx, %edx
    movl $2, (%esp)
    call thunk_edx
    addl $4, %esp
    CFI(.cfi_adjust_cfa_offset -4)
    POP ebx
    ret
    CFI(.cfi_endproc)
END call_through_thunks

// Never run: what its way out says is looked at (stack_walk_test.cpp).
FUNCTION restores_user_code
    CFI(.cfi_startproc)
    CFI(.cfi_undefined eip)
    nop
    popl %ebx
    popl %edx
    movl 4(%esp), %ecx
    sysexit
    CFI(.cfi_endproc)
END restores_user_code

    .data
    .globl interrupt_depth
interrupt_depth:
    .long -1
    .bss
    .p2align 4
    .globl interrupt_stack_slot
    .skip 32768
interrupt_stack_slot:
    .long 0
    .long 0
    .section .note.GNU-stack, "", @progbits
