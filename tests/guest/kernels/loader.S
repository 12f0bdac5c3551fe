// A boot loader for QEMU's -kernel (Multiboot) that carries a kernel as data, as teaching kernels have it: it copies KERNEL
// to 8 MiB, maps that at 3 GiB and jumps to ENTRY. All of it is in one segment (ld.lld -N), which is executable.

    .section .multiboot, "ax"
    .long 0x1badb002, 0, -0x1badb002

    .text
    .globl _start
    .type _start, @function
_start:
    cli
    mov $stack_top, %esp
    mov $kernel, %esi
    mov $0x800000, %edi
    mov $kernel_finish - kernel, %ecx
    rep movsb
    movl $0x83, page_directory              // 4 MiB pages: present, writable
    movl $0x800083, page_directory + 768 * 4
    mov %cr4, %eax
    or $0x10, %eax                          // CR4.PSE
    mov %eax, %cr4
    mov $page_directory, %eax
    mov %eax, %cr3
    mov %cr0, %eax
    or $0x80000001, %eax                    // CR0.PG, CR0.PE
    mov %eax, %cr0
    mov $ENTRY, %eax
    call *%eax
    .size _start, . - _start
    // Labels without a size: one in the code, one behind it.
    .globl hang
hang:
    hlt
    jmp hang
    .globl code_finish
code_finish:

    .data
kernel:
    .incbin KERNEL
kernel_finish:

    .bss
    .balign 4096
page_directory:
    .skip 4096
    .skip 16384
stack_top:
