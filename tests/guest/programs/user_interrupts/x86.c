// Two timers: the one comes by the way of all vectors, the other by an entry of its own.
#include "kernel.h"

typedef unsigned long long u64;

enum {
  kGates = 256,
  kGateWords = sizeof(word) / 4 * 2,
  kInvalidOpcode = 6,
  kTimer = 32,
  kClock = 48,
  kSystemCall = 0x80
};

extern char stubs[], clock_entry[];
extern u64 gdt[];
void load_tables(const void* idt_pointer);

static unsigned idt[kGates * kGateWords];
static unsigned task_state[26];
static word kernel_stack[1024] __attribute__((aligned(16)));

static inline void out8(unsigned short port, unsigned char value) {
  __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

void print(const char* text) {
  for (; *text; ++text) out8(0x3f8, (unsigned char)*text);
}

static volatile unsigned* apic(word reg) { return (volatile unsigned*)(0xfee00000 + reg); }

static void set_gate(unsigned vector, const char* entry, unsigned privilege) {
  const u64 at = (word)entry;
  unsigned* gate = idt + vector * kGateWords;
  gate[0] = 8u << 16 | (at & 0xffff);
  gate[1] = (unsigned)(at & 0xffff0000) | 0x8e00 | privilege << 13;
}

void machine_end_of_interrupt(void) { out8(0x20, 0x20); }

__attribute__((noinline)) void clock_work(void) {
  spin(40000);
  __asm__ volatile("");
}

void on_clock(void) {
  clock_work();
  *apic(0xb0) = 0;
}

void trap(word vector) {
  word* const saved_pc = (word*)(kernel_stack + 1024) - 5;
  if (vector == kTimer) {
    on_interrupt();
  } else if (vector == kSystemCall) {
    on_system_call();
  } else {
    on_exception();
    *saved_pc += 2;  // behind ud2
  }
}

void machine_start(void) {
  for (unsigned vector = 0; vector < kGates; ++vector) set_gate(vector, stubs + 16 * vector, 0);
  set_gate(kClock, clock_entry, 0);
  set_gate(kSystemCall, stubs + 16 * kSystemCall, 3);
  const u64 at = (word)task_state;
  const word stack = (word)(kernel_stack + 1024);
  task_state[1] = (unsigned)stack;
#ifdef __i386__
  task_state[2] = 16;
#endif
  gdt[5] = 0x0000890000000067 | (at & 0xffffff) << 16 | (at >> 24 & 0xff) << 56;
  static const unsigned char controllers[][2] = {
      {0x20, 0x11}, {0x21, 32}, {0x21, 4}, {0x21, 1}, {0xa0, 0x11}, {0xa1, 40},
      {0xa1, 2},    {0xa1, 1},  {0x21, 0xfe}, {0xa1, 0xff},
      {0x43, 0x34}, {0x40, 0x9c}, {0x40, 0x0e}};  // 300 interrupts a second
  for (unsigned i = 0; i < sizeof(controllers) / 2; ++i) out8(controllers[i][0], controllers[i][1]);
  static struct __attribute__((packed)) {
    unsigned short limit;
    const void* base;
  } pointer = {sizeof(idt) - 1, idt};
  load_tables(&pointer);
  *apic(0xf0) = 0x1ff;
  *apic(0x350) = 0x700;              // LINT0: from the other controller
  *apic(0x3e0) = 0xb;                // by 1
  *apic(0x320) = 0x20000 | kClock;   // periodic
  *apic(0x380) = 2500000;            // of QEMU's 1 GHz: 400 a second
}
