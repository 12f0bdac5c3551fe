    .section .note.Xen, "a", @note
    .p2align 2
    .long 4, 4, 18                      // XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .long _start

    .section .text.start, "ax"
    .globl _start
_start:
    lgdt gdt_pointer
    movl $page_directory, %eax
    movl %eax, %cr3
    movl $0x10, %eax                    // CR4.PSE
    movl %eax, %cr4
    movl $0x80000011, %eax              // PG, PE
    movl %eax, %cr0
    ljmp $8, $1f
1:  movl $16, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $boot_stack_end, %esp
    xorl %ebp, %ebp
    call kernel_main
1:  hlt
    jmp 1b

    .text
    .globl load_tables, enter_user, user_begin, user_end, stubs, clock_entry
load_tables:
    movl 4(%esp), %eax
    lidt (%eax)
    movl $40, %eax
    ltr %ax
    ret
enter_user:
    movl $0x43, %eax
    movl %eax, %ds
    movl %eax, %es
    pushl $0x43                         // ss, esp, eflags, cs, eip
    pushl $user_stack_end
    pushl $0x202
    pushl $0x3b
    pushl $user_page
    iretl

    // A stub for each vector, 16 bytes apart.
    .p2align 4
stubs:
    .set vector, 0
    .rept 256
    .p2align 4
    .if (vector == 8) | ((vector >= 10) & (vector <= 14)) | (vector == 17)
    .else
    pushl $0                            // for the error code
    .endif
    pushl $vector
    jmp all_traps
    .set vector, vector + 1
    .endr
all_traps:
    pushal
    cld
    pushl 32(%esp)
    call trap
    addl $4, %esp
    popal
    addl $8, %esp
    iretl

    // The second timer's, for itself.
clock_entry:
    pushal
    cld
    call on_clock
    popal
    iretl

    // Runs elsewhere.
user_begin:
1:  movl $20000, %eax
2:  decl %eax
    jnz 2b
    int $0x80
    ud2
    jmp 1b
user_end:

    .bss
    .p2align 12
    .skip 8192
boot_stack_end:
    .data
    .p2align 3
    .globl gdt
gdt:
    .quad 0
    .quad 0x00cf9b000000ffff            // 8: code
    .quad 0x00cf93000000ffff            // 16: data
    .quad 0, 0
    .quad 0, 0                          // 40: the task state segment
    .quad 0x00cffb000000ffff            // 56: code of user mode
    .quad 0x00cff3000000ffff            // 64: its data
gdt_pointer:
    .word . - gdt - 1
    .long gdt
    .p2align 12
page_directory:
    .long 0x83, 0x400087                // the kernel, user code
    .fill 1017, 4, 0
    .long 0xfec0009b                    // 0x3fb: the local APIC's registers
    .fill 4, 4, 0
