    .section .text.start, "ax"
    .globl _start
_start:
    adrp x0, boot_stack + 8192
    mov sp, x0
    ldr x29, =0x12345671
    bl kernel_main
1:  wfi
    b 1b
    .globl secondary_start
secondary_start:
    adrp x0, secondary_stack + 8192
    mov sp, x0
    ldr x29, =0x12345671
    bl paging_on
    bl secondary_main
1:  wfi
    b 1b

    .text
    .globl cpu_on, switch_stack, start_thread, enter_user, vectors, user_begin, user_end
cpu_on:                                 // PSCI, CPU_ON
    ldr x0, =0xc4000003
    mov x1, #1
    adrp x2, secondary_start
    add x2, x2, :lo12:secondary_start
    mov x3, #0
    hvc #0
    ret

.macro save
    sub sp, sp, #96
    stp x29, x30, [sp]
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    mov x9, sp
    str x9, [x0]
.endm
switch_stack:
    save
    mov sp, x1
    ldp x29, x30, [sp]
    ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    add sp, sp, #96
    ret
start_thread:
    save
    mov sp, x1
    mov x30, x3
    adrp x29, first_frame_pointer
    ldr x29, [x29, :lo12:first_frame_pointer]
    br x2
enter_user:
    save
    adrp x9, trap_stack + 8192
    mov sp, x9
    msr elr_el1, x1
    mov x9, #0x3c0                      // EL0, exceptions masked
    msr spsr_el1, x9
    eret

    .p2align 11
vectors:
    .skip 0x400
    sub sp, sp, #256                    // synchronous, from EL0 in AArch64
    stp x0, x1, [sp]
    stp x28, x29, [sp, #16]
    str x30, [sp, #32]
    b trap_from_user
    .p2align 11

    // Runs elsewhere.
user_begin:
    adr x29, user_begin
    add x29, x29, #0x8000
    mov sp, x29
    bl 1f
    nop
1:  mov x0, #50000
2:  subs x0, x0, #1
    b.ne 2b
    svc #0
    .p2align 3
user_end:
