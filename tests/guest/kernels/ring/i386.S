// Multiboot loads it; OFFSET above its place in RAM, by pages of 4 MiB. The lowest ones stay.
#include "machine.h"

    .section .text.start, "ax"
    .p2align 2
    .long 0x1badb002, 0, -0x1badb002

.macro paging
    movl $page_directory - OFFSET, %eax
    movl %eax, %cr3
    movl $0x10, %eax                    // CR4.PSE
    movl %eax, %cr4
    movl $0x80000011, %eax              // PG, PE
    movl %eax, %cr0
.endm
.macro segments
    movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
.endm
.macro function name
    .globl \name
    .type \name, @function
\name:
.endm

function _start
    cli
    lgdt gdt_pointer - OFFSET
    paging
    ljmp $8, $start_high
    .size _start, . - _start

    // Copied to 0x8000.
    .globl second_begin, second_end
    .code16
second_begin:
    cli
    xorw %ax, %ax
    movw %ax, %ds
    lgdtl 0x8000 + 2f - second_begin
    paging
    ljmpl $8, $start_second
2:  .word 23
    .long gdt - OFFSET
second_end:
    .code32

    .text
function start_high
    segments
    movl $stacks + STACK_BYTES, %esp
    xorl %ebp, %ebp
    call kernel_main
1:  jmp 1b
    .size start_high, . - start_high
function start_second
    segments
    movl $stacks + 2 * STACK_BYTES, %esp
    xorl %ebp, %ebp
    call second_main
1:  jmp 1b
    .size start_second, . - start_second

    // void load_interrupts(const void* pointer)
function load_interrupts
    movl 4(%esp), %eax
    lidt (%eax)
    ret
    .size load_interrupts, . - load_interrupts

function timer_entry
    pushal
    cld
    movl %esp, %eax
    pushl $0                            // struct ringside_registers, from its end
    pushl 8(%eax)
    leal 44(%eax), %ecx
    pushl %ecx
    pushl 32(%eax)
    pushl %esp
    call on_timer
    addl $20, %esp
    popal
    iretl
    .size timer_entry, . - timer_entry
function fault_entry                    // with an error code, or the word of code's segment
    pushl 4(%esp)
    call on_fault
    .size fault_entry, . - fault_entry

    .data
    .p2align 3
gdt:
    .quad 0
    .quad 0x00cf9b000000ffff            // 8: code
    .quad 0x00cf93000000ffff            // 16: data
gdt_pointer:
    .word . - gdt - 1
    .long gdt - OFFSET
    .p2align 12
    .globl page_directory
page_directory:
    .long 0x83, 0x400083
    .fill 766, 4, 0
    .long 0x83, 0x400083                // 0x300: OFFSET
    .fill 249, 4, 0
    .long 0xfec0009b                    // 0x3fb: the local APIC's registers
    .fill 4, 4, 0
