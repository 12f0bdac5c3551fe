// Computes and does nothing else: 25 of 100 parts of a round.
#include "core/spin.h"
#include "user/syscalls.h"

void transform_matrix() { spin(15 * kUnitPart); }
void sort_values() { spin(10 * kUnitPart); }

extern "C" [[noreturn]] void _start() {
  do {
    transform_matrix();
    sort_values();
  } while (!system_call(kSyscallYield));
  system_call(kSyscallExit);
  __builtin_unreachable();
}
