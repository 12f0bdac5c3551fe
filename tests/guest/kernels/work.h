// What all of these kernels run: three functions whose shares of the time are 50, 30 and 20 %, each
// behind a chain of calls. No word of this is an operating system's.
#pragma once

#define NOINLINE __attribute__((noinline))

typedef unsigned long u64;

// One loop for all: equal instructions take equal time.
#ifdef __riscv
#define STEP_AND_BRANCH "addi %0, %0, -1\n\tbnez %0, 1b"
#else
#define STEP_AND_BRANCH "sub %0, %0, #1\n\tcbnz %0, 1b"
#endif
#define SPIN(turns)                                                            \
  do {                                                                         \
    u64 left = (turns);                                                        \
    __asm__ volatile("1: nop\n\tnop\n\tnop\n\t" STEP_AND_BRANCH : "+r"(left)); \
  } while (0)

enum { kUnit = 2000 };

static NOINLINE void spin_half(void) { SPIN(50 * kUnit); }
static NOINLINE void spin_third(void) { SPIN(30 * kUnit); }
static NOINLINE void spin_fifth(void) { SPIN(20 * kUnit); }

static NOINLINE void device_work(void) {
  spin_half();
  spin_third();
  __asm__ volatile("");  // no tail calls
}
static NOINLINE void one_round(void) {
  device_work();
  spin_fifth();
  __asm__ volatile("");
}
