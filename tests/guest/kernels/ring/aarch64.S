// QEMU loads it and starts it in EL1. Addresses from OFFSET on are RAM and devices by blocks of
// 1 GiB, in TTBR1_EL1; in TTBR0_EL1 the same ones stand at their places.
#include "machine.h"

.macro function name
    .globl \name
    .type \name, %function
\name:
.endm

    // Goes on at `to`, with paging, on the stack of the CPU that x0 says.
.macro start to
    ldr x1, =0xff                       // attributes: 0 normal memory, 1 devices
    msr mair_el1, x1
    ldr x1, =0xb5193519                 // 39 bits of addresses, pages of 4 KiB, in both
    msr tcr_el1, x1
    adrp x1, page_table
    msr ttbr0_el1, x1
    msr ttbr1_el1, x1
    ldr x1, =vectors
    msr vbar_el1, x1
    isb
    tlbi vmalle1
    dsb sy
    mrs x1, sctlr_el1
    ldr x2, =0x1005                     // I, C, M
    orr x1, x1, x2
    msr sctlr_el1, x1
    isb
    ldr x1, =stacks + STACK_BYTES
    mov x2, STACK_BYTES
    madd x1, x0, x2, x1
    mov sp, x1
    mov x29, xzr
    mov x30, xzr
    ldr x1, =\to
    br x1
.endm

    .section .text.start, "ax"
function _start
    mov x0, #0
    start start_high
    .size _start, . - _start
function second_start
    mov x0, #1
    start start_second
    .size second_start, . - second_start

    .text
function start_high
    bl kernel_main
1:  b 1b
    .size start_high, . - start_high
function start_second
    bl second_main
1:  b 1b
    .size start_second, . - start_second

    // PSCI, CPU_ON: void start_cpu(uint64_t cpu, uint64_t physical)
function start_cpu
    mov x2, x1
    mov x1, x0
    ldr x0, =0xc4000003
    mov x3, #0
    hvc #0
    ret
    .size start_cpu, . - start_cpu

function interrupt_entry
    sub sp, sp, #208
    stp x0, x1, [sp, #32]
    stp x2, x3, [sp, #48]
    stp x4, x5, [sp, #64]
    stp x6, x7, [sp, #80]
    stp x8, x9, [sp, #96]
    stp x10, x11, [sp, #112]
    stp x12, x13, [sp, #128]
    stp x14, x15, [sp, #144]
    stp x16, x17, [sp, #160]
    stp x18, x30, [sp, #176]
    mrs x0, elr_el1                     // struct ringside_registers
    add x1, sp, #208
    stp x0, x1, [sp]
    stp x29, x30, [sp, #16]
    mov x0, sp
    bl on_timer
    ldp x0, x1, [sp, #32]
    ldp x2, x3, [sp, #48]
    ldp x4, x5, [sp, #64]
    ldp x6, x7, [sp, #80]
    ldp x8, x9, [sp, #96]
    ldp x10, x11, [sp, #112]
    ldp x12, x13, [sp, #128]
    ldp x14, x15, [sp, #144]
    ldp x16, x17, [sp, #160]
    ldp x18, x30, [sp, #176]
    add sp, sp, #208
    eret
    .size interrupt_entry, . - interrupt_entry

.macro vector to
    .p2align 7
    b \to
.endm
    .p2align 11
function vectors
    .rept 5                             // four from SP_EL0, and the synchronous one of EL1
    vector fault
    .endr
    vector interrupt_entry
    .rept 10
    vector fault
    .endr
    .size vectors, . - vectors
function fault
    mrs x0, elr_el1
    bl on_fault
    .size fault, . - fault

    .data
    .p2align 12
    .globl page_table
page_table:
    .quad 0x405, 0x40000701             // devices, RAM
    .fill 510, 8, 0
