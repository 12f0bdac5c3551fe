// Supervisor mode on OpenSBI.
    .section .text.start, "ax"
    .globl _start
_start:
    la sp, boot_stack + 8192
    li s0, 0x12345671
    call kernel_main
1:  wfi
    j 1b
    .globl secondary_start
secondary_start:
    la sp, secondary_stack + 8192
    li s0, 0x12345671
    call paging_on
    call secondary_main
1:  wfi
    j 1b

    .text
    .globl sbi_call, switch_stack, start_thread, enter_user, trap_entry, user_begin, user_end
sbi_call:
    mv a7, a3
    mv a6, a4
    ecall
    ret

.macro save
    addi sp, sp, -112
    sd ra, 0(sp)
    .set at, 8
    .irp reg, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    sd \reg, at(sp)
    .set at, at + 8
    .endr
    sd sp, 0(a0)
.endm
switch_stack:
    save
    mv sp, a1
    ld ra, 0(sp)
    .set at, 8
    .irp reg, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    ld \reg, at(sp)
    .set at, at + 8
    .endr
    addi sp, sp, 112
    ret
start_thread:
    save
    mv sp, a1
    mv ra, a3
    la s0, first_frame_pointer
    ld s0, 0(s0)
    jr a2
enter_user:
    save
    la t0, trap_stack + 8192
    csrw sscratch, t0
    csrw sepc, a1
    li t0, 1 << 8                       // sstatus.SPP
    csrc sstatus, t0
    sret

    .p2align 2
trap_entry:
    csrrw sp, sscratch, sp
    addi sp, sp, -256
    .set at, 0
    .irp reg, ra, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4, a5, a6, a7, s2, s3, s4, s5, s6
    sd \reg, at(sp)
    .set at, at + 8
    .endr
    la t0, trap_from_user
    jr t0

    // Runs elsewhere.
    .p2align 3
user_begin:
    auipc sp, 16
    mv s0, sp
    jal ra, 1f
    nop
1:  li t0, 50000
2:  addi t0, t0, -1
    bnez t0, 2b
    ecall
    .p2align 3
user_end:
