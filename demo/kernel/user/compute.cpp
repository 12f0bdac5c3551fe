// Computes and does nothing else: 25 of 100 parts of a round. Has frame pointers.
#include "core/spin.h"
#include "user/syscalls.h"

void multiply_rows() { spin(15 * kUnitPart); }
void merge_runs() { spin(10 * kUnitPart); }

void transform_matrix() { multiply_rows(); }
void sort_values() { merge_runs(); }

void compute_unit() {
  transform_matrix();
  sort_values();
}

extern "C" [[noreturn]] void _start() {
  do {
    compute_unit();
  } while (!system_call(kSyscallYield));
  system_call(kSyscallExit);
  __builtin_unreachable();
}
