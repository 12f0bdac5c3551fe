// Entry points of the maskable interrupts.
//
// The CPU has pushed ss, rsp, rflags, cs, rip on the interrupted stack, or on the thread's kernel
// stack when it came from ring 3. At nesting depth 0 the stub moves to the CPU's interrupt stack as
// Linux does (arch/x86/include/asm/irq_stack.h): the old rsp goes into the top slot, rsp becomes
// that slot's address, `pop %rsp` comes back. A nested interrupt stays on that stack.
//
// %rbp is not touched: it still is the interrupted code's. While the stack is away, %rbx stands for
// it, also in the call-frame information.
#include "arch/asm.h"
#include "arch/registers.inc"

    .macro INTERRUPT_ENTRY name, handler
FUNCTION(\name)
    CFI(.cfi_startproc simple)
    CFI(.cfi_signal_frame)
    CFI(.cfi_def_cfa rsp, 40)
    CFI(.cfi_offset rip, -40)
    CFI(.cfi_offset rsp, -16)
    cld
    testb $3, 8(%rsp)
    jz 1f
    swapgs
1:  PUSH_REGISTERS
    movq %rsp, %rdi
    movq %rsp, %rbx
    CFI(.cfi_def_cfa_register rbx)
    incl %gs:CPU_IRQ_DEPTH
    jnz 2f
    movq %gs:CPU_IRQ_STACK_SLOT, %rax
    movq %rsp, (%rax)
    movq %rax, %rsp
    call \handler
    popq %rsp
    decl %gs:CPU_IRQ_DEPTH
    cmpl $0, %gs:CPU_NEED_RESCHED
    je 3f
    call preempt
    jmp 3f
2:  call \handler
    decl %gs:CPU_IRQ_DEPTH
3:  CFI(.cfi_def_cfa_register rsp)
    POP_REGISTERS
    testb $3, 8(%rsp)
    jz 4f
    swapgs
4:  iretq
    CFI(.cfi_endproc)
END(\name)
    .endm

    .text
.Lentries_begin:
    INTERRUPT_ENTRY irq_entry_tick, tick_interrupt
    INTERRUPT_ENTRY irq_entry_device, device_interrupt
    INTERRUPT_ENTRY irq_entry_completion, completion_interrupt
    INTERRUPT_ENTRY irq_entry_ipi, ipi_interrupt
    INTERRUPT_ENTRY irq_entry_sampler, sampler_interrupt
    INTERRUPT_ENTRY irq_entry_spurious, spurious_interrupt
.Lentries_end:

// An NMI may come at any instruction, also between the processor's change of mode and `swapgs`: the
// base of gs says whose it is. The processor has moved to a stack of its own.
FUNCTION(nmi_entry)
    CFI(.cfi_startproc simple)
    CFI(.cfi_signal_frame)
    CFI(.cfi_def_cfa rsp, 40)
    CFI(.cfi_offset rip, -40)
    CFI(.cfi_offset rsp, -16)
    cld
    PUSH_REGISTERS
    xorl %ebx, %ebx
    movl $MSR_GS_BASE, %ecx
    rdmsr
    testl %edx, %edx                    // the kernel's is in the upper half
    js 1f
    swapgs
    incl %ebx
1:  movq %rsp, %rdi
    call nmi_interrupt
    testl %ebx, %ebx
    jz 2f
    swapgs
2:  POP_REGISTERS
    iretq
    CFI(.cfi_endproc)
END(nmi_entry)

    .section .rodata
    .p2align 3
    .globl irq_entries
irq_entries:
    .quad .Lentries_begin, .Lentries_end
    .section .note.GNU-stack, "", @progbits
