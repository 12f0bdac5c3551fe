#pragma once

#include "core/types.h"

// The registers of interrupted code: an entry stub has saved those of the first line
// (arch/registers.inc), and the processor the others before it. Ring 3's are the highest words of
// the thread's kernel stack.
struct SavedRegisters {
  u64 r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
  u64 rip, cs, rflags, rsp, ss;

  INLINE bool is_user() const { return (cs & 3) != 0; }
};
static_assert(sizeof(SavedRegisters) == 160);
