// Each architecture provides this to ring/kernel.c. A kernel runs at its physical address + OFFSET.
#pragma once

#ifdef __ASSEMBLER__
#define STACK_BYTES 8192
#else
#include "ringside_guest.h"

enum { CPUS = 2, STACK_BYTES = 8192, TIMER_HZ = 1000 };  // of each CPU's timer
enum { RING_WORDS = 1 << 16, RINGS_BYTES = 128 + CPUS * (64 + RING_WORDS * 8) };

// By CPU. Entry code gives each the one that its number says.
extern char stacks[CPUS][STACK_BYTES];

// The rate of read_clock() that the library is given, 0 where the machine does not say it; ticks of
// a millisecond, which that machine measures; and nanoseconds, of another clock where there is one.
uint64_t machine_clock_hz(void);
uint32_t machine_ticks_of_a_millisecond(void);
uint64_t machine_nanoseconds(void);

// Once, on the first CPU; then the second one begins at second_main(). Returns memory for the
// rings. Where there are pages, its end lies at a lower physical address than its start.
char* machine_start(void);
void machine_start_second(void);
// On each CPU: TIMER_HZ interrupts a second, which call on_timer(). They are on when it returns.
void machine_start_timer(void);
void machine_end_of_interrupt(void);
void machine_write(char byte);

// Entry code calls these. on_timer() is given the registers of what was interrupted.
void kernel_main(void);
void second_main(void);
void on_timer(const struct ringside_registers* at);
void on_fault(uintptr_t pc);

static inline uint64_t read_clock(void) {
#if defined(__i386__)
  uint64_t count;
  __asm__ volatile("rdtsc" : "=A"(count));
  return count;
#elif defined(__aarch64__)
  uint64_t count;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  uint64_t count;
  __asm__ volatile("rdtime %0" : "=r"(count));
  return count;
#endif
}

static inline void interrupts_on(void) {
#if defined(__i386__)
  __asm__ volatile("sti" ::: "memory");
#elif defined(__aarch64__)
  __asm__ volatile("msr daifclr, #2" ::: "memory");
#elif defined(MACHINE_MODE)
  __asm__ volatile("csrsi mstatus, 8" ::: "memory");
#else
  __asm__ volatile("csrsi sstatus, 2" ::: "memory");
#endif
}

static inline void interrupts_off(void) {
#if defined(__i386__)
  __asm__ volatile("cli" ::: "memory");
#elif defined(__aarch64__)
  __asm__ volatile("msr daifset, #2" ::: "memory");
#elif defined(MACHINE_MODE)
  __asm__ volatile("csrci mstatus, 8" ::: "memory");
#else
  __asm__ volatile("csrci sstatus, 2" ::: "memory");
#endif
}

#endif
