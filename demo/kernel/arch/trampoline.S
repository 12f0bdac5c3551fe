// Where an application processor wakes after a start-up IPI: real mode, at the 4 KiB page the IPI
// names (Intel SDM vol. 3, 8.4 "Multiple-Processor Initialization"). core/smp.cpp copies this code
// to kTrampoline and runs one processor at a time through it.
#include "arch/asm.h"
#define TRAMPOLINE 0x8000

    // No call-frame information: .eh_frame cannot reach 2 GiB down, and there is no stack yet.
    .section .boot.text, "ax"
    .code16
FUNCTION(trampoline_begin)
    cli
    cld
    xorw %ax, %ax
    movw %ax, %ds
    lgdtl TRAMPOLINE + .Lgdt_pointer - trampoline_begin
    movl %cr0, %eax
    orb $1, %al
    movl %eax, %cr0
    ljmpl $24, $(TRAMPOLINE + .Lprotected - trampoline_begin)
    .code32
.Lprotected:
    movw $16, %ax
    movw %ax, %ds
    movw %ax, %ss
    movl $boot_pml4, %eax
    movl %eax, %cr3
    movl %cr4, %eax
    orl $0x20, %eax
    movl %eax, %cr4
    movl $0xc0000080, %ecx
    rdmsr
    orl $0x101, %eax
    wrmsr
    movl %cr0, %eax
    andl $0x9fffffff, %eax              // INIT leaves CD and NW set
    orl $0x80010000, %eax
    movl %eax, %cr0
    ljmp $8, $(TRAMPOLINE + .Llong_mode - trampoline_begin)
    .code64
.Llong_mode:
    movabsq $secondary_high, %rax
    jmp *%rax
END(trampoline_begin)

    .p2align 3
.Lgdt:
    .quad 0
    .quad 0x00af9a000000ffff            // 8: 64-bit code
    .quad 0x00cf92000000ffff            // 16: data
    .quad 0x00cf9a000000ffff            // 24: 32-bit code
.Lgdt_pointer:
    .word . - .Lgdt - 1
    .long TRAMPOLINE + .Lgdt - trampoline_begin
    .globl trampoline_end
trampoline_end:

    .text
FUNCTION(secondary_high)
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    xorl %eax, %eax
    movl %eax, %ss
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %fs
    movl %eax, %gs
    movq secondary_stack_top, %rsp
    xorl %ebp, %ebp
    movq secondary_cpu, %rdi
    call secondary_main
    ud2
    CFI(.cfi_endproc)
END(secondary_high)
    .section .note.GNU-stack, "", @progbits
