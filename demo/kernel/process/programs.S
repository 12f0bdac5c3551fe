// The user programs, as files in the image.
    .macro PROGRAM name, path
    .globl \name\()_begin
    .globl \name\()_end
    .p2align 4
\name\()_begin:
    .incbin "\path"
\name\()_end:
    .endm

    .section .rodata
    PROGRAM compute, COMPUTE_PROGRAM
    PROGRAM syscaller, SYSCALLER_PROGRAM
    .section .note.GNU-stack, "", @progbits
