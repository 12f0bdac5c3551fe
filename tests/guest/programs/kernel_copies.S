// A kernel of three functions that take a third of its time each: one where it is linked, one in a
// second mapping of all its memory, and one in a copy, as the code is that wakes secondary CPUs.
// Multiboot, 32 bits, with paging.
    .equ SECOND, 0xc0000000
    .equ COPY, 0x8000
    .equ COUNT, 200000

    .section .multiboot, "a"
    .long 0x1badb002, 0, -0x1badb002

    .macro function name
    .globl \name
    .type \name, @function
\name:
    push %ebp
    mov %esp, %ebp
    .endm
    .macro work
    mov $COUNT, %ecx
0:  dec %ecx
    jnz 0b
    pop %ebp
    ret
    .endm

    .text
    .globl start
    .type start, @function
start:
    cli
    mov $stack_top, %esp
    mov $copied, %esi
    mov $COPY, %edi
    mov $copied_end - copied, %ecx
    cld
    rep movsb
    // Four MiB from 0 on, at 0 and at SECOND.
    movl $0x83, directory
    movl $0x83, directory + (SECOND >> 22) * 4
    mov %cr4, %eax
    or $0x10, %eax                      // PSE
    mov %eax, %cr4
    mov $directory, %eax
    mov %eax, %cr3
    mov %cr0, %eax
    or $0x80000000, %eax
    mov %eax, %cr0
    xor %ebp, %ebp
    call main
    .size start, . - start

function main
1:  call linked
    mov $mapped + SECOND, %eax
    call *%eax
    mov $COPY, %eax
    call *%eax
    jmp 1b
    .size main, . - main

function linked
    work
    .size linked, . - linked

function mapped
    work
    .size mapped, . - mapped

function copied
    mov $0x12345678, %eax
    lea 4(%eax, %edx, 8), %edx
    imul $77, %edx, %eax
    shr $7, %edx
    xor $0x9e3779b9, %eax
    lea 12(%edx, %eax, 4), %edx
    work
copied_end:
    .size copied, . - copied

    .bss
    .balign 4096
directory:
    .skip 4096
    .skip 4096
stack_top:
