// QEMU's virt: the harts' timers, by OpenSBI or as machine mode has them, and the serial port.
#include "machine.h"

enum { CLOCK_HZ = 10000000 };  // the device tree has it

#define UART ((volatile uint8_t*)(OFFSET + 0x10000000))
#define CLINT ((volatile uint64_t*)0x2000000)

uint64_t machine_clock_hz(void) { return CLOCK_HZ; }
uint32_t machine_ticks_of_a_millisecond(void) { return CLOCK_HZ / 1000; }
uint64_t machine_nanoseconds(void) { return read_clock() * (1000000000 / CLOCK_HZ); }
void machine_write(char byte) { *UART = (uint8_t)byte; }

#ifdef MACHINE_MODE

extern volatile uint64_t second_may_start;

char* machine_start(void) {
  static _Alignas(4096) char rings[RINGS_BYTES];
  return rings;
}

void machine_end_of_interrupt(void) {
  uint64_t hart;
  __asm__ volatile("csrr %0, mhartid" : "=r"(hart));
  CLINT[0x4000 / 8 + hart] = read_clock() + CLOCK_HZ / TIMER_HZ;
}

void machine_start_second(void) { second_may_start = 1; }

void machine_start_timer(void) {
  machine_end_of_interrupt();
  __asm__ volatile("csrs mie, %0" ::"r"(1ul << 7));
  interrupts_on();
}

#else

// Two pages of 2 MiB, one before the other in RAM; the rings begin near the first one's end.
#define WINDOW (OFFSET + 0xc0000000)
#define RINGS (WINDOW + 0x180000)
#define ENTRY(physical, flags) ((uint64_t)(physical) >> 2 | (flags))
enum { TABLE = 1, MEMORY_PAGE = 0xcf };

static _Alignas(4096) uint64_t pages[512];
extern uint64_t page_table[];
extern const char second_start[];
long sbi_call(uintptr_t a0, uintptr_t a1, uintptr_t a2, uintptr_t extension, uintptr_t function);

char* machine_start(void) {
  pages[0] = ENTRY(0x82000000, MEMORY_PAGE);
  pages[1] = ENTRY(0x81000000, MEMORY_PAGE);
  page_table[WINDOW >> 30 & 511] = ENTRY((uintptr_t)pages - OFFSET, TABLE);
  __asm__ volatile("sfence.vma" ::: "memory");
  return (char*)RINGS;
}

void machine_end_of_interrupt(void) {
  const uintptr_t set_timer = 0x54494d45;
  sbi_call(read_clock() + CLOCK_HZ / TIMER_HZ, 0, 0, set_timer, 0);
}

// Any hart may be the one that began.
void machine_start_second(void) {
  const uintptr_t hart_states = 0x48534d;
  for (uintptr_t hart = 0; hart < CPUS; ++hart)
    sbi_call(hart, (uintptr_t)second_start - OFFSET, 0, hart_states, 0);
}

void machine_start_timer(void) {
  machine_end_of_interrupt();
  __asm__ volatile("csrs sie, %0" ::"r"(1ul << 5));
  interrupts_on();
}

#endif
