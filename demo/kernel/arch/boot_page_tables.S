// Page tables of the boot CPU, of every application processor and of every kernel thread. Constant
// data: physical 0 to 4 GiB in 2 MiB pages, seen at 0 (while booting), at 0xffff800000000000
// (direct map) and, its first 2 GiB, at -2 GiB (kernel image). Processes copy the upper half of
// boot_pml4.
    .section .boot.data, "aw"
    .p2align 12
    .globl boot_pml4
boot_pml4:
    .quad boot_pdpt_low + 3
    .fill 255, 8, 0
    .quad boot_pdpt_low + 3             // 0xffff800000000000
    .fill 254, 8, 0
    .quad boot_pdpt_high + 3            // 0xffffff8000000000
boot_pdpt_low:
    .quad boot_pd + 3, boot_pd + 0x1003, boot_pd + 0x2003, boot_pd + 0x3003
    .fill 508, 8, 0
boot_pdpt_high:
    .fill 510, 8, 0
    .quad boot_pd + 3, boot_pd + 0x1003 // 0xffffffff80000000
boot_pd:
    .set page, 0
    .rept 2048
    .quad page + 0x83                   // present, writable, 2 MiB
    .set page, page + 0x200000
    .endr
    .section .note.GNU-stack, "", @progbits
