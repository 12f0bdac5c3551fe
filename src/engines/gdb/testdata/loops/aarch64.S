// For tests of engines/gdb: puts known values into the registers, and loops.
//   clang --target=aarch64-linux-gnu -c aarch64.S && llvm-objcopy -O binary -j .text aarch64.o aarch64.bin
.macro set n
  movz x\n, #(0x1100 + \n)
  movk x\n, #0xffff, lsl #48
.endm
  ldr x0, =0x40a01000
  msr ttbr0_el1, x0
  ldr x0, =0x40b02000
  msr ttbr1_el1, x0
  ldr x0, =0x40c03040
  msr sp_el0, x0
  ldr x0, =0xffff800008045678
  msr elr_el1, x0
  mov x0, #0x3c5
  msr spsr_el1, x0
  ldr x0, =0x40d08800
  msr vbar_el1, x0
  ldr x0, =0x19351935
  msr tcr_el1, x0
  ldr x0, =0x40100ff0
  mov sp, x0
.irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
  set \n
.endr
  b .
