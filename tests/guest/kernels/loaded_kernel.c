// A kernel of a few functions that runs wherever it is put: it has no data, and calls are relative.

#define NOINLINE __attribute__((noinline))

NOINLINE unsigned burn(unsigned n) {
  unsigned value = n;
  for (unsigned i = 0; i < n; ++i) value = value * 1664525 + 1013904223;
  return value;
}

NOINLINE void first_task(void) {
  const unsigned value = burn(300000);
  asm volatile("" ::"r"(value));
}

NOINLINE void second_task(void) {
  const unsigned value = burn(100000);
  asm volatile("" ::"r"(value));
}

NOINLINE void scheduler(void) {
  for (;;) {
    first_task();
    second_task();
  }
}

#ifdef BUILT_AGAIN
NOINLINE void new_task(void) { asm volatile("nop"); }
#endif

void kernel_main(void) {
  scheduler();
  asm volatile("");
}
