#pragma once

#include "core/types.h"

INLINE u64 read_tsc() {
  u32 low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return static_cast<u64>(high) << 32 | low;
}
INLINE void write_msr(u32 msr, u64 value) {
  asm volatile("wrmsr"
               :
               : "c"(msr), "a"(static_cast<u32>(value)), "d"(static_cast<u32>(value >> 32)));
}
INLINE u64 read_cr3() {
  u64 value;
  asm volatile("mov %%cr3, %0" : "=r"(value));
  return value;
}
INLINE void write_cr3(u64 value) { asm volatile("mov %0, %%cr3" : : "r"(value) : "memory"); }
INLINE void disable_interrupts() { asm volatile("cli" : : : "memory"); }
INLINE void enable_interrupts() { asm volatile("sti" : : : "memory"); }
INLINE void pause() { asm volatile("pause"); }

INLINE bool interrupts_enabled() {
  u64 flags;
  asm volatile("pushfq; popq %0" : "=r"(flags));
  return flags & 0x200;
}
