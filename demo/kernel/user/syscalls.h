#pragma once

#include "process/syscall_numbers.h"

// Iterations of one part of a hundred of a round. A round takes some 16 ms under TCG, so that
// switching between processes and entering the kernel are nothing against it.
constexpr unsigned long kUnitPart = 8000;

[[gnu::always_inline]] inline unsigned long system_call(SystemCall number, unsigned long first = 0,
                                                        unsigned long second = 0) {
  unsigned long result = number;
  asm volatile("syscall"
               : "+a"(result), "+D"(first), "+S"(second)
               :
               : "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
  return result;
}
