// A function that nothing calls, for a linker to remove; and one without debug information.
#include <calls.h>

asm(".section .text.bare_code, \"ax\", @progbits\n"
    ".globl bare_code\n"
    ".type bare_code, @function\n"
    "bare_code: .fill 64, 1, 0x90\n"
    "ret\n"
    ".size bare_code, . - bare_code\n"
    ".text\n");

__attribute__((noinline)) int removed_code(int x) {
  for (int i = 0; i < x; ++i) {
    x += store_many(i) ^ store_many(x);
    x += store_many(i + 1) ^ store_many(x + 2);
    x += store_many(i + 3) ^ store_many(x + 4);
  }
  return x;
}
