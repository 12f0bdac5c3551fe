// Supervisor mode on OpenSBI.
    .section .text.start, "ax"
    .globl _start
_start:
    la sp, boot_stack_end
    li s0, 0
    call kernel_main
1:  wfi
    j 1b

    .text
    .globl sbi_call, enter_user, trap_entry, user_begin, user_end
sbi_call:
    mv a7, a3
    mv a6, a4
    ecall
    ret

enter_user:
    la t0, boot_stack_end
    csrw sscratch, t0
    la t0, user_page
    csrw sepc, t0
    li t0, 1 << 8                       // sstatus.SPP
    csrc sstatus, t0
    la sp, user_stack_end
    sret

.macro registers what
    .set at, 0
    .irp reg, ra, gp, tp, t0, t1, t2, s0, s1, a0, a1, a2, a3, a4, a5, a6, a7, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, t3, t4, t5, t6
    \what \reg, at(sp)
    .set at, at + 8
    .endr
.endm
    .p2align 2
trap_entry:
    csrrw sp, sscratch, sp
    addi sp, sp, -288
    registers sd
    csrr t0, sscratch
    sd t0, 240(sp)
    csrr t0, sstatus
    csrr t1, sepc
    csrr a0, scause
    sd t0, 248(sp)
    sd t1, 256(sp)
    sd a0, 264(sp)
    addi t0, sp, 288
    csrw sscratch, t0
    call trap                           // returns how far user code's pc goes on
    ld t0, 248(sp)
    ld t1, 256(sp)
    add t1, t1, a0
    sd t1, 256(sp)
    csrw sstatus, t0
    csrw sepc, t1
    registers ld
    ld sp, 240(sp)
    sret

    // Runs elsewhere.
    .p2align 3
    .option norvc
user_begin:
1:  li t0, 20000
2:  addi t0, t0, -1
    bnez t0, 2b
    ecall
    ebreak
    j 1b
    .p2align 3
user_end:

    .bss
    .p2align 12
    .skip 8192
boot_stack_end:
