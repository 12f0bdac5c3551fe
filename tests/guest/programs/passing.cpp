// A program that lives a few milliseconds: all of its time is in one function. Built twice by
// short_lived_test.py, with other names of the function, and with other code in front of it, so
// that an address of either tells which one it is although both are linked at the same addresses.
#include "freestanding.h"

asm(".skip " CODE_IN_FRONT);

extern "C" [[gnu::noinline]] void FUNCTION(Word turns) {
  for (Word value = turns; turns; --turns) {
    value += turns;
    asm volatile("" : "+r"(value));
  }
}

extern "C" [[noreturn]] void run() {
  FUNCTION(300'000);
  for (;;) system_call(kExit, 0, 0, 0);
}
