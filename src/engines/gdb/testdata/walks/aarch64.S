// For tests of memory/aarch64: turns the MMU on with the registers that follow the code.
// Mapped memory need not hold the code: the processor then faults for ever, with these registers.
//   clang --target=aarch64-none-elf -c aarch64.S && llvm-objcopy -O binary -j .text aarch64.o aarch64.bin
  ldr x0, ttbr0
  msr ttbr0_el1, x0
  ldr x0, ttbr1
  msr ttbr1_el1, x0
  ldr x0, tcr
  msr tcr_el1, x0
  isb
  mrs x0, sctlr_el1
  orr x0, x0, #1
  msr sctlr_el1, x0
  isb
  b .
.balign 64
ttbr0:
ttbr1 = ttbr0 + 8
tcr = ttbr0 + 16
