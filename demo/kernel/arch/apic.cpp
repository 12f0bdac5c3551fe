#include "arch/apic.h"

#include "arch/instructions.h"
#include "arch/interrupts.h"
#include "arch/io.h"

using namespace apic_register;

namespace {

constexpr u32 kMasked = 1u << 16, kPeriodic = 1u << 17, kDeliveryPending = 1u << 12;

void send(u32 target, u32 command) {
  apic_write(kCommandHigh, target << 24);
  apic_write(kCommandLow, command);
  while (apic_read(kCommandLow) & kDeliveryPending) pause();
}

}  // namespace

void mask_legacy_interrupt_controllers() {
  out8(0x21, 0xff);
  out8(0xa1, 0xff);
}

void apic_enable() {
  apic_write(kSpurious, 0x100 | kVectorSpurious);
  apic_write(kLvtLint0, kMasked);
  apic_write(kTimerDivide, 0xb);  // by one
}

u32 apic_id() { return apic_read(kId) >> 24; }
void apic_send_init(u32 target) { send(target, 0x4500); }
void apic_send_startup(u32 target, u32 page) { send(target, 0x4600 | page); }
void apic_send_nmi(u32 target) { send(target, 0x4400); }

void apic_timer_count() {
  apic_write(kLvtTimer, kMasked);
  apic_write(kTimerInitial, 0xffffffff);
}
u32 apic_timer_elapsed() { return 0xffffffff - apic_read(kTimerCurrent); }

void apic_timer_periodic(u8 vector, u32 ticks) {
  apic_write(kLvtTimer, kPeriodic | vector);
  apic_write(kTimerInitial, ticks);
}
