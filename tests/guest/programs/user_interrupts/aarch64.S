    .section .text.start, "ax"
    .globl _start
_start:
    adrp x0, boot_stack_end
    mov sp, x0
    mov x29, #0
    mov x30, #0
    bl kernel_main
1:  wfi
    b 1b

    .text
    .globl enter_user, vectors, user_begin, user_end
enter_user:
    adrp x9, boot_stack_end
    mov sp, x9
    adrp x9, user_page
    msr elr_el1, x9
    adrp x9, user_stack_end
    msr sp_el0, x9
    msr spsr_el1, xzr                   // EL0, interrupts allowed
    eret

    .p2align 11
vectors:
.macro entry name
    .p2align 7
    b \name
.endm
    // For all levels: synchronous, IRQ, FIQ, SError.
    .rept 4
    entry synchronous_entry
    entry interrupt_entry
    entry interrupt_entry
    entry error_entry
    .endr
    .p2align 11

.macro save
    sub sp, sp, #192
    stp x0, x1, [sp]
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x16, x17, [sp, #128]
    stp x18, x29, [sp, #144]
    mrs x1, elr_el1
    stp x30, x1, [sp, #160]
.endm
interrupt_entry:
    save
    bl on_interrupt
    b restore
synchronous_entry:
    save
    bl on_synchronous                   // returns how far user code's pc goes on
    ldr x1, [sp, #168]
    add x1, x1, x0
    str x1, [sp, #168]
restore:
    ldp x30, x1, [sp, #160]
    msr elr_el1, x1
    ldp x18, x29, [sp, #144]
    ldp x16, x17, [sp, #128]
    ldp x14, x15, [sp, #112]
    ldp x12, x13, [sp, #96]
    ldp x10, x11, [sp, #80]
    ldp x8, x9, [sp, #64]
    ldp x6, x7, [sp, #48]
    ldp x4, x5, [sp, #32]
    ldp x2, x3, [sp, #16]
    ldp x0, x1, [sp]
    add sp, sp, #192
    eret
error_entry:
    b .

    // Runs elsewhere.
user_begin:
1:  mov x0, #20000
2:  subs x0, x0, #1
    b.ne 2b
    svc #0
    brk #0
    b 1b
    .p2align 3
user_end:

    .bss
    .p2align 12
    .skip 8192
boot_stack_end:
    .skip 4096
