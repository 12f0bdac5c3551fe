# Functions whose call-frame information is right at each instruction, for
# link_register/agreement_test.cpp. Not run.

        .text
        .macro function name
        .globl \name
        .type \name, @function
\name:  .cfi_startproc
        .endm
        .macro end name
        .cfi_endproc
        .size \name, . - \name
        .endm

        function with_frame
        addi    sp, sp, -48
        .cfi_def_cfa_offset 48
        sd      ra, 40(sp)
        .cfi_offset ra, -8
        sd      s0, 32(sp)
        .cfi_offset s0, -16
        sd      s1, 24(sp)
        .cfi_offset s1, -24
        addi    s0, sp, 48
        mv      s1, a0
        beqz    a0, 1f
        call    leaf
        add     s1, s1, a0
1:      mv      a0, s1
        ld      s1, 24(sp)
        .cfi_restore s1
        ld      ra, 40(sp)
        .cfi_restore ra
        ld      s0, 32(sp)
        .cfi_restore s0
        addi    sp, sp, 48
        .cfi_def_cfa_offset 0
        ret
        end with_frame

        function big_frame
        addi    sp, sp, -2032
        .cfi_def_cfa_offset 2032
        sd      ra, 2024(sp)
        .cfi_offset ra, -8
        sd      s2, 2016(sp)
        .cfi_offset s2, -16
        li      t0, -8192
        add     sp, sp, t0
        .cfi_def_cfa_offset 10224
        sw      a0, 4(sp)
        call    leaf
        lw      a1, 4(sp)
        li      t0, 8192
        add     sp, sp, t0
        .cfi_def_cfa_offset 2032
        ld      s2, 2016(sp)
        .cfi_restore s2
        ld      ra, 2024(sp)
        .cfi_restore ra
        addi    sp, sp, 2032
        .cfi_def_cfa_offset 0
        jr      ra
        end big_frame

        function leaf
        li      a1, 4
        bltu    a0, a1, 2f
        bgez    a0, 3f
        mul     a0, a0, a0
2:      ret
3:      addi    sp, sp, -16
        .cfi_def_cfa_offset 16
        sd      a0, 8(sp)
        ld      a0, 8(sp)
        addi    sp, sp, 16
        .cfi_def_cfa_offset 0
        ret
        end leaf

        function tail_call
        addi    sp, sp, -16
        .cfi_def_cfa_offset 16
        sd      ra, 8(sp)
        .cfi_offset ra, -8
        call    leaf
        ld      ra, 8(sp)
        .cfi_restore ra
        addi    sp, sp, 16
        .cfi_def_cfa_offset 0
        j       leaf
        end tail_call

        .option push                  // a call has 8 bytes, all else 4
        .option norvc
        .option norelax
        function calls_traced
        addi    sp, sp, -16
        .cfi_def_cfa_offset 16
        sd      ra, 8(sp)
        .cfi_offset ra, -8
        sd      s0, 0(sp)
        .cfi_offset s0, -16
        addi    s0, sp, 16
        .cfi_def_cfa s0, 0
        call    traced
        ld      ra, 8(sp)
        .cfi_restore ra
        ld      s0, 0(sp)
        .cfi_restore s0
        .cfi_def_cfa sp, 16
        addi    sp, sp, 16
        .cfi_def_cfa_offset 0
        ret
        end calls_traced

        function traced               // as Linux patches functions that it traces
        call    t0, tracer
        addi    sp, sp, -16
        .cfi_def_cfa_offset 16
        sd      ra, 8(sp)
        .cfi_offset ra, -8
        call    leaf
        ld      ra, 8(sp)
        .cfi_restore ra
        addi    sp, sp, 16
        .cfi_def_cfa_offset 0
        ret
        end traced

        function tracer               // its link register is t0
        .cfi_register ra, t0
        addi    sp, sp, -16
        .cfi_def_cfa_offset 16
        sd      ra, 8(sp)
        ld      ra, 8(sp)
        addi    sp, sp, 16
        .cfi_def_cfa_offset 0
        jr      t0
        end tracer
        .option pop
