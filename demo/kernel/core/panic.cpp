#include "core/panic.h"

#include "arch/instructions.h"
#include "arch/io.h"
#include "core/console.h"

void exit_guest(u8 value) {
  out8(0xf4, value);
  for (;;) asm volatile("cli; hlt");  // no such device on this command line
}

void panic(const char* format, ...) {
  disable_interrupts();
  print("ringside-demo: panic: ");
  va_list arguments;
  va_start(arguments, format);
  print_arguments(format, arguments);
  va_end(arguments);
  print("\n");
  exit_guest(kExitPanic);
}
