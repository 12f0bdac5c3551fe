// skid_block_0 to skid_block_255: one basic block each. Number i does 64 + (97 i mod 256) dependent
// multiplications, so all costs differ. They multiply what rax holds: of a constant TCG would
// compute the result itself. A block is a single translation block under TCG (at most 512
// instructions, never across a page): recorded in .ringside_loops, so that tools/check_loops.py
// proves it.
#include "arch/asm.h"

    .altmacro
    .macro SKID_BLOCK index, cost
    .p2align 6, 0xcc
    // To the next page if less is left of this one than the block's size.
    .p2align 12, 0xcc, 4 * \cost
    .globl skid_block_\index
    .type skid_block_\index, @function
skid_block_\index\():
    CFI(.cfi_startproc)
    .rept \cost
    imulq %rax, %rax
    .endr
    ret
    CFI(.cfi_endproc)
    .size skid_block_\index, . - skid_block_\index
    .pushsection .ringside_loops, "", @progbits
    .quad skid_block_\index, skid_block_\index + 1 + 4 * \cost
    .popsection
    .endm

    .macro SKID_ENTRY index
    .pushsection .rodata.skid_names
1:  .asciz "skid_block_\index"
    .popsection
    .quad skid_block_\index, 1b
    .endm

    .section .text.skid, "ax", @progbits
    .p2align 12
    .set i, 0
    .rept 256
    SKID_BLOCK %i, %(64 + (i * 97) % 256)
    .set i, i + 1
    .endr

    // Pairs of function and name, in order.
    .section .rodata
    .p2align 3
    .globl skid_blocks
skid_blocks:
    .set i, 0
    .rept 256
    SKID_ENTRY %i
    .set i, i + 1
    .endr
    .section .note.GNU-stack, "", @progbits
