// For tests of engines/gdb: puts known values into the registers, and loops.
//   gcc -c x86.S && objcopy -O binary -j .text x86.o x86.bin
// The last 512 bytes of a BIOS: into protected mode with paging, then a loop at 0x80000000 + here.
.code16
.set base, 0xffe00
start:
  cli
  xor %ax, %ax
  mov %ax, %ds
  mov %ax, %es
  mov $0x1000, %di
  mov $0x400, %cx
  xor %eax, %eax
  rep stosl
  movl $0x83, 0x1000
  movl $0x83, 0x1800
  lgdtl %cs:(gdt_pointer - start + 0xfe00)
  mov $0x10, %eax
  mov %eax, %cr4
  mov $0x1000, %eax
  mov %eax, %cr3
  mov $0x80000011, %eax
  mov %eax, %cr0
  ljmpl $8, $(base + 0x80000000 + protected - start)
.code32
protected:
  mov $0x10, %eax
  mov %eax, %ds
  mov %eax, %ss
  mov $0x11aa0000, %eax
  mov $0x11aa0001, %ecx
  mov $0x11aa0002, %edx
  mov $0x11aa0003, %ebx
  mov $0x80004440, %esp
  mov $0x11aa0005, %ebp
  mov $0x11aa0006, %esi
  mov $0x11aa0007, %edi
  jmp .
.balign 8
gdt:
  .quad 0
  .quad 0x00cf9b000000ffff
  .quad 0x00cf93000000ffff
gdt_pointer:
  .word 23
  .long base + gdt - start
.org 0x1f0
.code16
  ljmp $0xf000, $0xfe00
.org 0x200
