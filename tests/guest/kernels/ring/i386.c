// QEMU's pc: the local APICs' timers, of 1 GHz; the time stamp counter, whose rate nobody says; and
// the HPET beside it, of 100 MHz.
#include "machine.h"

enum { COM1 = 0x3f8, CODE_SEGMENT = 8, GATES = 256, TIMER_VECTOR = 32, APIC_HZ = 1000000000 };
enum { HPET_TICK_NANOSECONDS = 10, SECOND_AT = 0x8000 };
enum { APIC_END = 0xb0, APIC_SPURIOUS = 0xf0, APIC_COMMAND = 0x300, APIC_TO = 0x310 };
enum { APIC_TIMER = 0x320, APIC_INITIAL = 0x380, APIC_DIVIDE = 0x3e0 };

// Two pages of 4 MiB, one before the other in RAM; the rings begin near the first one's end.
enum { WINDOW = 0xd0000000, WINDOW_ENTRY = WINDOW >> 22, RINGS = WINDOW + 0x3c0000 };
enum { FIRST_PAGE = 0x1000000, SECOND_PAGE = 0x800000, LARGE_PAGE = 0x83 };

extern uint32_t page_directory[];
extern const char second_begin[], second_end[];
extern char timer_entry[], fault_entry[];
void load_interrupts(const void* pointer);

static uint32_t gates[2 * GATES];
static uint32_t ticks_of_a_millisecond;

static void out8(uint16_t port, uint8_t value) {
  __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

static volatile uint32_t* apic(uint32_t reg) { return (volatile uint32_t*)(0xfee00000 + reg); }
static volatile uint32_t* hpet(uint32_t reg) { return (volatile uint32_t*)(0xfed00000 + reg); }

uint64_t machine_clock_hz(void) { return 0; }
uint32_t machine_ticks_of_a_millisecond(void) { return ticks_of_a_millisecond; }
// The counter's lower half wraps after 42 s.
uint64_t machine_nanoseconds(void) { return (uint64_t)*hpet(0xf0) * HPET_TICK_NANOSECONDS; }
void machine_write(char byte) { out8(COM1, (uint8_t)byte); }
void machine_end_of_interrupt(void) { *apic(APIC_END) = 0; }

static void set_gate(int vector, const char* entry) {
  gates[2 * vector] = CODE_SEGMENT << 16 | ((uint32_t)entry & 0xffff);
  gates[2 * vector + 1] = ((uint32_t)entry & 0xffff0000) | 0x8e00;
}

static void open_interrupts(void) {
  static struct __attribute__((packed)) {
    uint16_t limit;
    const void* base;
  } pointer = {sizeof(gates) - 1, gates};
  load_interrupts(&pointer);
  *apic(APIC_SPURIOUS) = 0x1ff;
  *apic(APIC_DIVIDE) = 0xb;  // by 1
}

char* machine_start(void) {
  page_directory[WINDOW_ENTRY] = FIRST_PAGE | LARGE_PAGE;
  page_directory[WINDOW_ENTRY + 1] = SECOND_PAGE | LARGE_PAGE;
  for (int vector = 0; vector < GATES; ++vector) set_gate(vector, fault_entry);
  set_gate(TIMER_VECTOR, timer_entry);
  out8(0x21, 0xff);  // the older controllers stay silent
  out8(0xa1, 0xff);
  open_interrupts();
  enum { MEASURED_MILLISECONDS = 20, NANOSECONDS = MEASURED_MILLISECONDS * 1000000 };
  *hpet(0x10) = 1;  // it runs
  const uint64_t start = read_clock();  // first: rounds become longer where QEMU has to wait, not shorter
  const uint64_t end = machine_nanoseconds() + NANOSECONDS;
  while (machine_nanoseconds() < end) {
  }
  ticks_of_a_millisecond = (uint32_t)(read_clock() - start) / MEASURED_MILLISECONDS;
  return (char*)RINGS;
}

void machine_start_second(void) {
  const uint32_t all_others = 3 << 18;
  for (const char* from = second_begin; from < second_end; ++from)
    ((volatile char*)SECOND_AT)[from - second_begin] = *from;
  *apic(APIC_COMMAND) = all_others | 0x4500;  // INIT
  const uint64_t end = read_clock() + 10 * ticks_of_a_millisecond;
  while (read_clock() < end) {
  }
  *apic(APIC_COMMAND) = all_others | 0x4600 | SECOND_AT >> 12;
}

void machine_start_timer(void) {
  open_interrupts();
  *apic(APIC_TIMER) = 1 << 17 | TIMER_VECTOR;  // periodic
  *apic(APIC_INITIAL) = APIC_HZ / TIMER_HZ;
  interrupts_on();
}
