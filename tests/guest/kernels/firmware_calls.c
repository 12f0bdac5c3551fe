// A kernel in supervisor mode that calls its firmware for most of the time, from two functions in turns. Its stack is virtual
// memory of two pages, which lie in memory in the other order, and a call crosses from one into the other. The first harts
// that the firmware starts run it, all the same work.
#include "spin.h"

#define PAGE 4096
#define TABLE __attribute__((aligned(PAGE)))
enum { kHarts = 2, kValid = 1, kAll = 0xcf };  // V R W X A D

u64 root[512] TABLE;
static u64 middle[512] TABLE, last[512] TABLE;
static char pages[kHarts][3][PAGE] TABLE;  // the one in the middle is no stack's

__asm__(
    ".section .text.start,\"ax\"\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  la sp, first_stack_end\n"
    "  mv s1, a0\n"
    "  call set_up\n"
    "  mv a0, s1\n"
    "  j start_hart\n"
    ".size _start, . - _start\n"
    // a0: the hart's number.
    ".globl start_hart\n"
    ".type start_hart, @function\n"
    "start_hart:\n"
    "  la t0, root\n"
    "  srli t0, t0, 12\n"
    "  li t1, 8\n"
    "  slli t1, t1, 60\n"
    "  or t0, t0, t1\n"
    "  csrw satp, t0\n"
    "  sfence.vma\n"
    "  li sp, -0x4000000000\n"  // entry 256 of the root; each hart has 16 KiB, of which 8 are its stack
    "  slli t0, a0, 14\n"
    "  add sp, sp, t0\n"
    "  li t0, 0x2000\n"
    "  add sp, sp, t0\n"
    "  li s0, 0\n"
    "  call run\n"
    ".size start_hart, . - start_hart\n"
    ".bss\n"
    ".balign 16\n"
    "first_stack: .skip 4096\n"
    "first_stack_end:\n"
    ".text\n");
void start_hart(void);

static u64 leaf_of(const void* page) { return ((u64)page >> 12) << 10 | kAll; }
static u64 table_of(const void* table) { return ((u64)table >> 12) << 10 | kValid; }

// By the SBI specification's binary encoding.
static NOINLINE long sbi(u64 extension, u64 function, u64 one, u64 two, u64 three) {
  register u64 a0 __asm__("a0") = one;
  register u64 a1 __asm__("a1") = two;
  register u64 a2 __asm__("a2") = three;
  register u64 a6 __asm__("a6") = function;
  register u64 a7 __asm__("a7") = extension;
  __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a6), "r"(a7) : "memory");
  return (long)a0;
}

void set_up(u64 hart) {
  root[0] = leaf_of((void*)0);           // the first GiB: devices
  root[2] = leaf_of((void*)0x80000000);  // RAM
  root[256] = table_of(middle);
  middle[0] = table_of(last);
  for (u64 i = 0; i < kHarts; ++i) {
    last[4 * i] = leaf_of(pages[i][2]);
    last[4 * i + 1] = leaf_of(pages[i][0]);
  }
  for (const char* c = "firmware calls: ready\n"; *c; ++c) sbi(1, 0, (u64)*c, 0, 0);  // Console Putchar
  sbi(0x48534d, 0, hart ^ 1, (u64)start_hart, 1);  // HSM: Hart Start; it fails where there is one hart only
}

static volatile u64 sum;
enum { kBase = 0x10, kProbe = 3, kTimes = 50 };

NOINLINE void ask_firmware(u64 extension) { sum += (u64)sbi(kBase, kProbe, extension, 0, 0); }

// Its frame reaches into the lower page.
NOINLINE void far_down(u64 extension) {
  volatile char room[PAGE];
  room[0] = 1;
  for (int i = 0; i < kTimes; ++i) ask_firmware(extension);
  sum += (u64)room[0];
}

NOINLINE void near_by(u64 extension) {
  for (int i = 0; i < kTimes; ++i) ask_firmware(extension);
  sum += 1;
}

void run(void) {
  for (;;) {
    far_down(0x54494d45);
    near_by(0x735049);
  }
}
