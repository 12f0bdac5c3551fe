#pragma once

#include "core/types.h"

// The local APIC of the running vCPU, through its memory-mapped registers (Intel SDM vol. 3,
// chapter 11).

void mask_legacy_interrupt_controllers();
void apic_enable();
u32 apic_id();
void apic_send_init(u32 target);
void apic_send_startup(u32 target, u32 page);
void apic_send_nmi(u32 target);

// Counts timer ticks at the bus clock from now on without interrupting; read them with
// apic_timer_elapsed().
void apic_timer_count();
u32 apic_timer_elapsed();
void apic_timer_periodic(u8 vector, u32 ticks);

namespace apic_register {
constexpr u64 kBase = 0xffff8000fee00000;
constexpr u32 kId = 0x20, kEoi = 0xb0, kSpurious = 0xf0, kCommandLow = 0x300, kCommandHigh = 0x310;
constexpr u32 kLvtTimer = 0x320, kLvtLint0 = 0x350, kTimerInitial = 0x380, kTimerCurrent = 0x390;
constexpr u32 kTimerDivide = 0x3e0;
}  // namespace apic_register

INLINE void apic_write(u32 offset, u32 value) {
  *reinterpret_cast<volatile u32*>(apic_register::kBase + offset) = value;
}
INLINE u32 apic_read(u32 offset) {
  return *reinterpret_cast<volatile u32*>(apic_register::kBase + offset);
}

INLINE void apic_end_of_interrupt() { apic_write(apic_register::kEoi, 0); }
INLINE void apic_timer_one_shot(u8 vector, u32 ticks) {
  apic_write(apic_register::kLvtTimer, vector);
  apic_write(apic_register::kTimerInitial, ticks);
}
INLINE void apic_send_self_ipi(u8 vector) {
  apic_write(apic_register::kCommandLow, 1u << 18 | vector);
}
