#include "arch/clock.h"

#include "arch/apic.h"
#include "arch/instructions.h"
#include "arch/io.h"

namespace {

constexpr u32 kPitFrequency = 1193182, kFraction = 40;  // measures for 1/40 s
u64 g_tsc_per_second;
u32 g_apic_per_second;

}  // namespace

// Channel 2 in mode 0, its gate in bit 0 and its output in bit 5 of port 0x61 (Intel 8254 data
// sheet).
void calibrate_clocks() {
  constexpr u32 count = kPitFrequency / kFraction;
  out8(0x61, (in8(0x61) & 0xfc) | 1);
  out8(0x43, 0xb0);
  out8(0x42, count & 0xff);
  out8(0x42, count >> 8);
  apic_timer_count();
  const u64 start = read_tsc();
  while (!(in8(0x61) & 0x20)) pause();
  g_tsc_per_second = (read_tsc() - start) * kFraction;
  g_apic_per_second = apic_timer_elapsed() * kFraction;
}

u64 tsc_per_second() { return g_tsc_per_second; }
u32 apic_ticks_per_second() { return g_apic_per_second; }
