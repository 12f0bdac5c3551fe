// For tests of engines/gdb: puts known values into the registers, and loops in supervisor mode.
//   clang --target=riscv64-linux-gnu -march=rv64gc -mno-relax -c riscv64.S &&
//   llvm-objcopy -O binary -j .text riscv64.o riscv64.bin
  csrr t0, mhartid
  li t0, -1
  csrw pmpaddr0, t0
  li t0, 0x1f
  csrw pmpcfg0, t0
  li t0, 0x1800
  csrc mstatus, t0
  li t0, 0x800
  csrs mstatus, t0
  lla t0, 1f
  csrw mepc, t0
  mret
1: li t0, 0x12345
  csrw satp, t0
  li t0, 0x80001234
  csrw sepc, t0
  li t0, 0x80002340
  csrw sscratch, t0
  li t0, 0x80003450
  csrw stvec, t0
.irp n,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
  lui x\n, 0x11
  addi x\n, x\n, \n
.endr
  j .
