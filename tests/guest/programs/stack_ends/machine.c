// Page tables, the second vCPU, the timer, user code, and the serial port.
#include "machine.h"

typedef unsigned long long u64;

static void copy(word to, const char* from, const char* end) {
  for (char* at = (char*)to; from < end; ++from, ++at) *(volatile char*)at = *from;
}

#if defined(__x86_64__) || defined(__i386__)

extern const char secondary_begin[], secondary_end[];
extern char timer_entry[], ignored_entry[];
void load_tables(const void* idt_pointer);

static inline void out8(unsigned short port, unsigned char value) {
  __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port));
}

void print(const char* text) {
  for (; *text; ++text) out8(0x3f8, (unsigned char)*text);
}

static volatile unsigned* apic(word reg) { return (volatile unsigned*)(0xfee00000 + reg); }

void machine_allow_interrupts(void) { __asm__ volatile("sti"); }
void machine_end_of_interrupt(void) { out8(0x20, 0x20); }

enum { kGates = 256, kGateWords = sizeof(word) / 4 * 2 };
static unsigned idt[kGates * kGateWords];

static void set_gate(unsigned vector, const char* entry, unsigned privilege) {
  const u64 at = (word)entry;
  unsigned* gate = idt + vector * kGateWords;
  gate[0] = 8u << 16 | (at & 0xffff);
  gate[1] = (unsigned)(at & 0xffff0000) | 0x8e00 | privilege << 13;
}

#ifdef __x86_64__
extern const char user_begin[], user_end[];
extern char system_call_entry[];
extern u64 gdt[];
static unsigned task_state[26];
#endif

void machine_start(void) {
  for (unsigned vector = 0; vector < kGates; ++vector) set_gate(vector, ignored_entry, 0);
  set_gate(32, timer_entry, 0);
#ifdef __x86_64__
  set_gate(0x80, system_call_entry, 3);
  copy(USER, user_begin, user_end);
  const u64 at = (word)task_state;
  task_state[1] = (unsigned)(word)trap_stack + 8192;
  gdt[5] = 0x0000890000000067 | (at & 0xffffff) << 16 | (at >> 24 & 0xff) << 56;
#endif
  static const unsigned char controllers[][2] = {
      {0x20, 0x11}, {0x21, 32}, {0x21, 4}, {0x21, 1}, {0xa0, 0x11}, {0xa1, 40},
      {0xa1, 2},    {0xa1, 1},  {0x21, 0xfe}, {0xa1, 0xff},
      {0x43, 0x34}, {0x40, 0x9c}, {0x40, 0x2e}};  // 100 interrupts a second
  for (unsigned i = 0; i < sizeof(controllers) / 2; ++i) out8(controllers[i][0], controllers[i][1]);
  static struct __attribute__((packed)) {
    unsigned short limit;
    const void* base;
  } pointer = {sizeof(idt) - 1, idt};
  copy(0x8000, secondary_begin, secondary_end);
  *apic(0xf0) = 0x1ff;
  *apic(0x310) = 1 << 24;
  *apic(0x300) = 0x4500;  // INIT
  for (volatile unsigned i = 0; i < 1000000; ++i) {
  }
  *apic(0x300) = 0x4608;  // start-up, page 8
  load_tables(&pointer);
}

#else

extern const char secondary_start[], user_begin[], user_end[];

#ifdef __riscv

extern char trap_entry[];
word sbi_call(word a0, word a1, word a2, word extension, word function);

_Alignas(4096) static word root[512], middle[512];

void print(const char* text) {
  for (; *text; ++text) sbi_call((unsigned char)*text, 0, 0, 1, 0);
}

void paging_on(void) {
  __asm__ volatile("csrw stvec, %1; csrw satp, %0; sfence.vma" ::"r"(8ul << 60 | (word)root >> 12),
                   "r"(trap_entry)
                   : "memory");
}

static void build(void) {  // Sv39; D, A, X, W, R, V, and U for user code
  root[2] = (word)middle >> 2 | 1;
  for (word at = BASE; at < LAST_STACK_END; at += REGION) middle[at >> 21 & 511] = at >> 2 | 0xcf;
  middle[USER >> 21 & 511] = USER >> 2 | 0xdf;
}

static void start_second(void) {
  // Any of the two is the one that runs. SBI, hart state management.
  for (word hart = 0; hart < 2; ++hart) sbi_call(hart, (word)secondary_start, 0, 0x48534d, 0);
  __asm__ volatile("fence.i");
}

#else

extern char vectors[];
void cpu_on(void);

_Alignas(4096) static word root[512], middle[512];

void print(const char* text) {
  for (; *text; ++text) *(volatile unsigned*)0x9000000 = (unsigned char)*text;
}

void paging_on(void) {
  // Normal memory is attribute 0, device memory 1; 39 bits of addresses, in TTBR0 alone.
  __asm__ volatile(
      "msr mair_el1, %0; msr tcr_el1, %1; msr ttbr0_el1, %2; msr vbar_el1, %3; isb; tlbi vmalle1;"
      "dsb sy; mrs x9, sctlr_el1; orr x9, x9, #1; msr sctlr_el1, x9; isb" ::"r"(0xfful),
      "r"(25ul | 1ul << 23 | 3ul << 12), "r"(root), "r"(vectors)
      : "x9", "memory");
}

static void build(void) {
  root[0] = 0x405;  // the first GiB: a block of device memory
  root[1] = (word)middle | 3;
  for (word at = BASE; at < LAST_STACK_END; at += REGION) middle[at >> 21 & 511] = at | 0x701;
  middle[USER >> 21 & 511] = USER | 0x741;
}

static void start_second(void) {
  __asm__ volatile("ic iallu; dsb sy; isb");
  cpu_on();
}

#endif

void machine_allow_interrupts(void) {}
void machine_end_of_interrupt(void) {}

void machine_start(void) {
  build();
  copy(USER, user_begin, user_end);
  paging_on();
  start_second();
}

#endif
