    .section .note.Xen, "a", @note
    .p2align 2
    .long 4, 8, 18                      // XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .quad _start

    .section .text.start, "ax"
    .globl _start
    .code32
_start:
    lgdt gdt_pointer
    movl $pml4, %eax
    movl %eax, %cr3
    movl $0x20, %eax                    // CR4.PAE
    movl %eax, %cr4
    movl $0xc0000080, %ecx              // EFER.LME
    movl $0x100, %eax
    xorl %edx, %edx
    wrmsr
    movl $0x80000011, %eax              // PG, PE
    movl %eax, %cr0
    ljmp $8, $1f
    .code64
1:  movl $boot_stack_end, %esp
    xorl %ebp, %ebp
    call kernel_main
1:  hlt
    jmp 1b

    .text
    .globl load_tables, enter_user, user_begin, user_end, stubs, clock_entry
load_tables:
    lidt (%rdi)
    movl $40, %eax
    ltr %ax
    ret
enter_user:
    leaq user_stack_end, %rax
    leaq user_page, %rdx
    pushq $0x43                         // ss, rsp, rflags, cs, rip
    pushq %rax
    pushq $0x202
    pushq $0x3b
    pushq %rdx
    iretq

    // A stub for each vector, 16 bytes apart.
    .p2align 4
stubs:
    .set vector, 0
    .rept 256
    .p2align 4
    .if (vector == 8) | ((vector >= 10) & (vector <= 14)) | (vector == 17)
    .else
    pushq $0                            // for the error code
    .endif
    pushq $vector
    jmp all_traps
    .set vector, vector + 1
    .endr
.macro save
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %rbx
    pushq %rbp
.endm
.macro restore
    popq %rbp
    popq %rbx
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rax
.endm
all_traps:
    save
    movq 88(%rsp), %rdi
    cld
    call trap
    restore
    addq $16, %rsp
    iretq

    // The second timer's, for itself.
clock_entry:
    save
    cld
    call on_clock
    restore
    iretq

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
    .quad 0x00af9b000000ffff            // 8: code
    .quad 0x00cf93000000ffff            // 16: data
    .quad 0, 0
    .quad 0, 0                          // 40: the task state segment
    .quad 0x00affb000000ffff            // 56: code of user mode
    .quad 0x00cff3000000ffff            // 64: its data
gdt_pointer:
    .word . - gdt - 1
    .long gdt
    .p2align 12
pml4:
    .quad pdpt + 7
    .fill 511, 8, 0
pdpt:
    .quad pd + 7, 0, 0, pd_high + 3
    .fill 508, 8, 0
pd:
    .quad 0x83, 0, 0x400087             // the kernel, nothing, user code
    .fill 509, 8, 0
pd_high:
    .fill 503, 8, 0
    .quad 0xfee0009b                    // the local APIC's registers
    .fill 8, 8, 0
