// The timer of the SBI.
#include "kernel.h"

enum { kSystemCall = 8, kTick = 25000 };  // 400 a second of 10 MHz

extern char trap_entry[];
word sbi_call(word a0, word a1, word a2, word extension, word function);
word trap(word cause);

_Alignas(4096) static word root[512], middle[512];

void print(const char* text) {
  for (; *text; ++text) sbi_call((unsigned char)*text, 0, 0, 1, 0);
}

static void start_timer(void) {
  word now;
  __asm__ volatile("rdtime %0" : "=r"(now));
  sbi_call(now + kTick, 0, 0, 0x54494d45, 0);
}

void machine_end_of_interrupt(void) { start_timer(); }

// Returns by how many bytes user code's pc goes on.
word trap(word cause) {
  if (cause >> 63 != 0) {
    on_interrupt();
    return 0;
  }
  if (cause == kSystemCall)
    on_system_call();
  else
    on_exception();
  return 4;
}

void machine_start(void) {
  // Sv39; D, A, X, W, R, V, and U for user code
  root[2] = (word)middle >> 2 | 1;
  for (word at = 0x80200000; at < (word)user_page; at += 0x200000) middle[at >> 21 & 511] = at >> 2 | 0xcf;
  middle[(word)user_page >> 21 & 511] = (word)user_page >> 2 | 0xdf;
  const word user_memory = 1ul << 18;  // sstatus.SUM: the kernel copies the program
  __asm__ volatile("csrs sstatus, %0; csrw stvec, %2; csrw satp, %1; sfence.vma; csrs sie, %3" ::"r"(user_memory),
                   "r"(8ul << 60 | (word)root >> 12), "r"(trap_entry), "r"(1ul << 5)
                   : "memory");
  start_timer();
}
