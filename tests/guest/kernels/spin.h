// A loop that takes time and does nothing else.
#pragma once

#define NOINLINE __attribute__((noinline))

typedef unsigned long u64;

// One loop for all.
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
