// QEMU's virt: the virtual timer of each CPU, its GICv2, its serial port.
#include "machine.h"

enum { VIRTUAL_TIMER = 27 };  // its interrupt

#define DEVICE(at) ((volatile uint32_t*)(OFFSET + (at)))
#define DISTRIBUTOR DEVICE(0x8000000)
#define INTERFACE DEVICE(0x8010000)  // of the CPU that uses it
#define UART DEVICE(0x9000000)
#define WRITE(name, value) __asm__ volatile("msr " #name ", %0\n\tisb" ::"r"((uint64_t)(value)))

// Two blocks of 2 MiB, one before the other in RAM; the rings begin near the first one's end.
#define WINDOW (OFFSET + 0x80000000)
#define RINGS (WINDOW + 0x180000)
enum { FIRST_BLOCK = 0x42000000, SECOND_BLOCK = 0x41000000, MEMORY_BLOCK = 0x701, TABLE = 3 };

static _Alignas(4096) uint64_t blocks[512];
extern uint64_t page_table[];
extern const char second_start[];
void start_cpu(uint64_t cpu, uint64_t physical);

uint64_t machine_clock_hz(void) {
  uint64_t hz;
  __asm__("mrs %0, cntfrq_el0" : "=r"(hz));
  return hz;
}
uint32_t machine_ticks_of_a_millisecond(void) { return (uint32_t)(machine_clock_hz() / 1000); }
uint64_t machine_nanoseconds(void) { return read_clock() * (1000000000 / machine_clock_hz()); }
void machine_write(char byte) { *UART = (uint8_t)byte; }

static void next_interrupt(void) { WRITE(cntv_tval_el0, machine_clock_hz() / TIMER_HZ); }

void machine_end_of_interrupt(void) {
  const uint32_t number = INTERFACE[3];  // acknowledges it
  next_interrupt();
  INTERFACE[4] = number;
}

char* machine_start(void) {
  blocks[0] = FIRST_BLOCK | MEMORY_BLOCK;
  blocks[1] = SECOND_BLOCK | MEMORY_BLOCK;
  page_table[(WINDOW - OFFSET) >> 30] = ((uint64_t)blocks - OFFSET) | TABLE;
  __asm__ volatile("dsb sy\n\tisb" ::: "memory");
  DISTRIBUTOR[0] = 1;
  return (char*)RINGS;
}

void machine_start_second(void) { start_cpu(1, (uint64_t)second_start - OFFSET); }

void machine_start_timer(void) {
  DISTRIBUTOR[0x100 / 4] = 1u << VIRTUAL_TIMER;
  INTERFACE[1] = 0xff;  // all priorities
  INTERFACE[0] = 1;
  next_interrupt();
  WRITE(cntv_ctl_el0, 1);
  interrupts_on();
}
