// Functions whose call-frame information is right at each instruction, for
// link_register/agreement_test.cpp. Not run.

        .text
        .macro function name
        .globl \name
        .type \name, %function
\name:  .cfi_startproc
        .endm
        .macro end name
        .cfi_endproc
        .size \name, . - \name
        .endm

        function with_frame
        paciasp
        .cfi_negate_ra_state
        stp     x29, x30, [sp, #-64]!
        .cfi_def_cfa_offset 64
        .cfi_offset x29, -64
        .cfi_offset x30, -56
        mov     x29, sp
        stp     x19, x20, [sp, #16]
        .cfi_offset x19, -48
        .cfi_offset x20, -40
        str     x21, [sp, #32]
        .cfi_offset x21, -32
        mov     x19, x0
        cbz     x0, 1f
        bl      leaf
        add     x20, x0, x19
1:      ldr     x21, [sp, #32]
        .cfi_restore x21
        ldp     x19, x20, [sp, #16]
        .cfi_restore x19
        .cfi_restore x20
        ldp     x29, x30, [sp], #64
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        autiasp
        .cfi_negate_ra_state
        ret
        end with_frame

        function frame_below_locals   // room is made first, and given back last
        sub     sp, sp, #4096
        .cfi_def_cfa_offset 4096
        sub     sp, sp, #48
        .cfi_def_cfa_offset 4144
        stp     x29, x30, [sp, #32]
        .cfi_offset x29, -4112
        .cfi_offset x30, -4104
        add     x29, sp, #32
        str     w0, [sp, #8]
        bl      leaf
        ldrb    w1, [sp, #8]
        ldp     x29, x30, [sp, #32]
        .cfi_restore x29
        .cfi_restore x30
        add     sp, sp, #48
        .cfi_def_cfa_offset 4096
        add     sp, sp, #1, lsl #12
        .cfi_def_cfa_offset 0
        ret
        end frame_below_locals

        function leaf
        cmp     x0, #4
        b.lo    2f
        tbnz    x0, #3, 3f
        mul     x0, x0, x0
2:      ret
3:      sub     sp, sp, #16
        .cfi_def_cfa_offset 16
        str     x0, [sp, #8]
        ldr     x0, [sp, #8]
        add     sp, sp, #16
        .cfi_def_cfa_offset 0
        ret
        end leaf

        function tail_call
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        bl      leaf
        ldp     x29, x30, [sp], #16
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        b       leaf
        end tail_call

        function calls_traced
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        bl      traced
        ldp     x29, x30, [sp], #16
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        ret
        end calls_traced

        function traced               // as Linux patches functions that it traces
        mov     x9, x30
        bl      tracer
        stp     x29, x30, [sp, #-16]!
        .cfi_def_cfa_offset 16
        .cfi_offset x29, -16
        .cfi_offset x30, -8
        mov     x29, sp
        bl      leaf
        ldp     x29, x30, [sp], #16
        .cfi_restore x29
        .cfi_restore x30
        .cfi_def_cfa_offset 0
        ret
        end traced

        function tracer               // gives back the link register of what it was called from
        mov     x10, x30
        .cfi_register x30, x10
        mov     x30, x9
        ret     x10
        end tracer
