    .section .note.Xen, "a", @note
    .p2align 2
    .long 4, 4, 18                      // XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .long _start

    .section .text.start, "ax"
    .globl _start
.macro paging
    movl $page_directory, %eax
    movl %eax, %cr3
    movl $0x10, %eax                    // CR4.PSE
    movl %eax, %cr4
    movl $0x80000011, %eax              // PG, PE
    movl %eax, %cr0
.endm
_start:
    lgdt gdt_pointer
    paging
    ljmp $8, $1f
1:  movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $boot_stack + 8192, %esp
    movl $0x12345671, %ebp
    call kernel_main
1:  hlt
    jmp 1b

    // Copied to 0x8000.
    .globl secondary_begin, secondary_end
    .code16
secondary_begin:
    cli
    xorw %ax, %ax
    movw %ax, %ds
    lgdtl 0x8000 + 2f - secondary_begin
    paging
    ljmpl $8, $(0x8000 + 1f - secondary_begin)
    .code32
1:  movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $secondary_stack + 8192, %esp
    movl $0x12345671, %ebp
    movl $secondary_main, %eax
    call *%eax
1:  hlt
    jmp 1b
2:  .word 23
    .long gdt
secondary_end:

    .text
    .globl switch_stack, start_thread, timer_entry, ignored_entry, load_tables
load_tables:
    movl 4(%esp), %eax
    lidt (%eax)
    ret
.macro save
    movl 4(%esp), %eax
    movl 8(%esp), %edx
    pushl %ebp
    pushl %ebx
    pushl %esi
    pushl %edi
    movl %esp, (%eax)
.endm
switch_stack:
    save
    movl %edx, %esp
    popl %edi
    popl %esi
    popl %ebx
    popl %ebp
    ret
start_thread:
    movl 12(%esp), %ecx
    save
    movl %edx, %esp
    movl first_frame_pointer, %ebp
    jmp *%ecx

timer_entry:
    pushal
    cld
    call on_timer
    popal
    iretl
ignored_entry:
    iretl

    .data
    .p2align 3
gdt:
    .quad 0
    .quad 0x00cf9b000000ffff            // 8: code
    .quad 0x00cf93000000ffff            // 16: data
gdt_pointer:
    .word . - gdt - 1
    .long gdt
    .p2align 12
page_directory:
    .long 0x83, 0x400083                // kernel, kernel
    .fill 1017, 4, 0
    .long 0xfec0009b                    // 0x3fb: the local APIC's registers
    .fill 4, 4, 0
