// From the PVH entry point (32-bit protected mode, paging off, %ebx = struct hvm_start_info; Xen's
// docs/misc/pvh.pandoc, "PVH start of day structure and ABI") to long mode in the upper half.
#include "arch/asm.h"

    .section .note.Xen, "a", @note
    .p2align 2
    .long 4, 8, 18                      // XEN_ELFNOTE_PHYS32_ENTRY
    .asciz "Xen"
    // 8 bytes in a 64-bit file: QEMU, hw/i386/x86.c, read_pvh_start_addr().
    .quad pvh_start

    // No call-frame information: .eh_frame cannot reach 2 GiB down, and there is no stack yet.
    .section .boot.text, "ax"
    .code32
FUNCTION(pvh_start)
    cld
    lgdt .Lboot_gdt_pointer
    movl $boot_pml4, %eax
    movl %eax, %cr3
    movl %cr4, %eax
    orl $0x20, %eax                     // CR4.PAE
    movl %eax, %cr4
    movl $0xc0000080, %ecx              // EFER
    rdmsr
    orl $0x101, %eax                    // LME, SCE
    wrmsr
    movl %cr0, %eax
    orl $0x80010000, %eax               // PG, WP
    movl %eax, %cr0
    ljmp $8, $boot_long_mode
END(pvh_start)

    .code64
FUNCTION(boot_long_mode)
    xorl %eax, %eax
    movl %eax, %ss
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %fs
    movl %eax, %gs
    movabsq $boot_high, %rax
    jmp *%rax
END(boot_long_mode)

    .p2align 3
.Lboot_gdt:
    .quad 0
    .quad 0x00af9a000000ffff            // 64-bit code, selector 8
    .quad 0x00cf92000000ffff            // flat data, selector 16
.Lboot_gdt_pointer:
    .word . - .Lboot_gdt - 1
    .long .Lboot_gdt

    .text
FUNCTION(boot_high)
    CFI(.cfi_startproc)
    CFI(.cfi_undefined rip)
    movq $boot_stack_top, %rsp
    xorl %ebp, %ebp
    movl %ebx, %edi
    call kernel_main
    ud2
    CFI(.cfi_endproc)
END(boot_high)

    .bss
    .p2align 12
    .skip 16384
boot_stack_top:
    .section .note.GNU-stack, "", @progbits
