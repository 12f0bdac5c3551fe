    .section .note.Xen, "a", @note
    .p2align 2
    .long 4, 8, 18                      // XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    .quad _start

    .section .text.start, "ax"
    .globl _start
    .code32
.macro long_mode
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
.endm
_start:
    lgdt gdt_pointer
    long_mode
    ljmp $8, $1f
    .code64
1:  movl $boot_stack + 8192, %esp
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
    long_mode
    ljmpl $8, $(0x8000 + 1f - secondary_begin)
    .code64
1:  movl $secondary_stack + 8192, %esp
    movl $0x12345671, %ebp
    movl $secondary_main, %eax
    call *%rax
1:  hlt
    jmp 1b
2:  .word 71
    .long gdt
secondary_end:

    .text
    .globl switch_stack, start_thread, enter_user, timer_entry, system_call_entry, ignored_entry
    .globl load_tables, user_begin, user_end
load_tables:
    lidt (%rdi)
    movl $40, %eax
    ltr %ax
    ret
.macro save
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
.endm
switch_stack:
    save
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
start_thread:
    save
    movq %rsi, %rsp
    movq first_frame_pointer, %rbp
    jmp *%rdx
enter_user:
    save
    pushq $0x43                         // ss, rsp, rflags, cs, rip
    leaq 0x8000(%rsi), %rax
    pushq %rax
    pushq $0x202
    pushq $0x3b
    pushq %rsi
    iretq

timer_entry:
    pushq %rax
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %rbx                          // to the interrupts' stack, whose last word is this one's place
    movq %rsp, %rbx
    leaq interrupt_stack + 8192, %rsp
    pushq %rbx
    cld
    call on_timer
    popq %rsp
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
    iretq
ignored_entry:
    iretq
system_call_entry:
    pushq %rax
    pushq %rbp
    call trap_from_user
    popq %rbp
    popq %rax
    iretq

    // Runs elsewhere.
user_begin:
    movq %rsp, %rbp
    call 1f
    nop
1:  movl $50000, %eax
2:  decl %eax
    jnz 2b
    int $0x80
    .p2align 3
user_end:

    .bss
    .p2align 12
interrupt_stack: .skip 8192
    .data
    .p2align 3
    .globl gdt
gdt:
    .quad 0
    .quad 0x00af9b000000ffff            // 8: code
    .quad 0x00cf93000000ffff            // 16: data
    .quad 0, 0
    .quad 0, 0                          // 40: the task state segment
    .set at, . - gdt
    .if at != 56
    .error "the layout of the table"
    .endif
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
    .quad 0x83, 0x200083, 0, 0x600087   // kernel, kernel, nothing, user
    .fill 508, 8, 0
pd_high:
    .fill 503, 8, 0
    .quad 0xfee0009b                    // the local APIC's registers
    .fill 8, 8, 0
