// The virtual timer by the interrupt controller (GICv2) of QEMU's machine virt.
#include "kernel.h"

#define GICD ((volatile unsigned*)0x8000000)
#define GICC ((volatile unsigned*)0x8010000)
enum { kTick = 156250, kTimer = 27, kSystemCall = 0x15 };  // 400 a second of 62.5 MHz

extern char vectors[];
_Alignas(4096) static word root[512], middle[512];

void print(const char* text) {
  for (; *text; ++text) *(volatile unsigned*)0x9000000 = (unsigned char)*text;
}

static void start_timer(void) {
  __asm__ volatile("msr cntv_tval_el0, %0; msr cntv_ctl_el0, %1" ::"r"((word)kTick), "r"(1ul));
}

void machine_end_of_interrupt(void) {
  const unsigned number = GICC[3];
  start_timer();
  GICC[4] = number;
}

// ESR_EL1.EC (Arm ARM, D17.2.37) distinguishes a system call from a breakpoint, behind which user
// code goes on. Returns by how many bytes.
word on_synchronous(void) {
  word cause;
  __asm__ volatile("mrs %0, esr_el1" : "=r"(cause));
  if (cause >> 26 == kSystemCall) {
    on_system_call();
    return 0;
  }
  on_exception();
  return 4;
}

void machine_start(void) {
  root[0] = 0x405;  // the first GiB: a block of device memory
  root[1] = (word)middle | 3;
  for (word at = 0x40200000; at < (word)user_page; at += 0x200000) middle[at >> 21 & 511] = at | 0x701;
  middle[(word)user_page >> 21 & 511] = (word)user_page | 0x741;
  // Normal memory is attribute 0, device memory 1; 39 bits of addresses, in TTBR0 alone.
  __asm__ volatile(
      "msr mair_el1, %0; msr tcr_el1, %1; msr ttbr0_el1, %2; msr vbar_el1, %3; isb; tlbi vmalle1;"
      "dsb sy; mrs x9, sctlr_el1; orr x9, x9, #1; msr sctlr_el1, x9; isb" ::"r"(0xfful),
      "r"(25ul | 1ul << 23 | 3ul << 12), "r"(root), "r"(vectors)
      : "x9", "memory");
  GICD[0] = 1;
  GICD[0x100 / 4] = 1u << kTimer;  // GICD_ISENABLER0
  GICC[1] = 0xff;                  // GICC_PMR
  GICC[0] = 1;
  start_timer();
}
