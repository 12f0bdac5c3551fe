// Interrupt handlers that a compiler makes, for compiled_handlers_test.cpp: their call-frame
// information describes ordinary functions. The code is read, not run.

struct frame;

__attribute__((noinline)) void work(void) { __asm__ volatile(""); }
__attribute__((interrupt)) void handler(struct frame *frame) {
  (void)frame;
  work();
}

__attribute__((noinline)) void interrupted(void) { __asm__ volatile(""); }
void task(void) {
  interrupted();
  __asm__ volatile("");
}

void _start(void) {
  task();
  for (;;) {
  }
}
