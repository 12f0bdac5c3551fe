// On OpenSBI in supervisor mode: addresses from OFFSET on are RAM and devices by pages of 1 GiB, the
// lowest ones stay. With MACHINE_MODE without firmware and without pages.
#include "machine.h"

#ifdef MACHINE_MODE
#define CSR(name) m##name
#define RETURN mret
#else
#define CSR(name) s##name
#define RETURN sret
#endif

.macro function name
    .globl \name
    .type \name, @function
\name:
.endm

    // Goes on at `to`, with paging, on the stack of the CPU that a0 says.
.macro start to
#ifndef MACHINE_MODE
    la t0, page_table
    srli t0, t0, 12
    li t1, 8 << 60                      // Sv39
    or t0, t0, t1
    sfence.vma
    csrw satp, t0
#endif
    li t2, OFFSET
    la t0, trap_entry
    add t0, t0, t2
    csrw CSR(tvec), t0
    la sp, stacks
    li t0, STACK_BYTES
    addi t1, a0, 1
    mul t0, t0, t1
    add sp, sp, t0
    add sp, sp, t2
    li s0, 0
    li ra, 0
    la t0, \to
    add t0, t0, t2
    jr t0
.endm

    .section .text.start, "ax"
function _start
#ifdef MACHINE_MODE
    csrr a0, mhartid
    bnez a0, second_start
#endif
    start start_high
    .size _start, . - _start
function second_start
#ifdef MACHINE_MODE
    la t0, second_may_start
1:  lw t1, 0(t0)
    beqz t1, 1b
#endif
    start start_second
    .size second_start, . - second_start

    .text
    .p2align 2
function start_high
    call kernel_main
1:  j 1b
    .size start_high, . - start_high
function start_second
    call second_main
1:  j 1b
    .size start_second, . - start_second

    // long sbi_call(a0, a1, a2, extension, function)
function sbi_call
    mv a7, a3
    mv a6, a4
    ecall
    ret
    .size sbi_call, . - sbi_call

.macro each_register what
    .set at, 32
    .irp reg, ra, t0, t1, t2, t3, t4, t5, t6, a0, a1, a2, a3, a4, a5, a6, a7
    \what \reg, at(sp)
    .set at, at + 8
    .endr
.endm
    .p2align 2
function trap_entry
    addi sp, sp, -160
    each_register sd
    csrr a0, CSR(epc)                   // struct ringside_registers
    sd a0, 0(sp)
    addi a1, sp, 160
    sd a1, 8(sp)
    sd s0, 16(sp)
    sd ra, 24(sp)
    csrr a1, CSR(cause)
    bgez a1, 1f
    mv a0, sp
    call on_timer
    each_register ld
    addi sp, sp, 160
    RETURN
1:  call on_fault
    .size trap_entry, . - trap_entry

    .data
    .globl second_may_start
    .p2align 3
second_may_start:
    .quad 0
    .p2align 12
    .globl page_table
page_table:                             // of the devices and RAM, at both places
    .quad 0xcf, 0, 0x200000cf
    .fill 253, 8, 0
    .quad 0xcf, 0, 0x200000cf
    .fill 253, 8, 0
