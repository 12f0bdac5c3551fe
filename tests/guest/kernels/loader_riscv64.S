// The same as loader.S in machine mode, without a BIOS: it copies KERNEL to 0x80400000, waits, and jumps to ENTRY.

    .text
    .globl _start
    .type _start, @function
_start:
    la sp, stack_top
    la t0, kernel
    la t1, kernel_finish
    li t2, 0x80400000
copy:
    lb t3, 0(t0)
    sb t3, 0(t2)
    addi t0, t0, 1
    addi t2, t2, 1
    bltu t0, t1, copy
    fence.i
    li t0, 200000000                        // so long that it is sampled
wait:
    addi t0, t0, -1
    bnez t0, wait
    li t0, ENTRY
    jalr t0
    .size _start, . - _start

    .data
kernel:
    .incbin KERNEL
kernel_finish:

    .bss
    .skip 16384
stack_top:
