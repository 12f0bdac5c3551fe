// A library that user_program.c opens. It stops once while the dynamic loader sets it up.
volatile int plugin_sink;

__attribute__((constructor)) static void set_up(void) {
  __asm__ volatile("int3");
  ++plugin_sink;
}

void plugin_call(void (*function)(void)) {
  function();
  ++plugin_sink;
}
