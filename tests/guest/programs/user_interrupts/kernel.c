// A kernel with one program, in which all entries out of user code take about as long: see
// tests/guest/user_interrupts_test.py.
#include "kernel.h"

#define NOINLINE __attribute__((noinline))
enum { kRounds = 40000 };

NOINLINE void spin(unsigned rounds) {
  for (volatile word i = 0; i < rounds; ++i) {
  }
}

#define WORK(name)        \
  NOINLINE void name(void) { \
    spin(kRounds);        \
    __asm__ volatile(""); \
  }
WORK(interrupt_work)
WORK(system_call_work)
WORK(exception_work)

NOINLINE void on_interrupt(void) {
  interrupt_work();
  machine_end_of_interrupt();
}
NOINLINE void on_system_call(void) {
  system_call_work();
  __asm__ volatile("");
}
NOINLINE void on_exception(void) {
  exception_work();
  __asm__ volatile("");
}

void kernel_main(void) {
  machine_start();
  for (const char* from = user_begin; from < user_end; ++from)
    ((volatile char*)user_page)[from - user_begin] = *from;
  print("user interrupts: ready\n");
  enter_user();
}
