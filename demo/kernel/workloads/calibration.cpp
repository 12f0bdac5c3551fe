#include "arch/apic.h"
#include "arch/cpu.h"
#include "core/spin.h"
#include "workloads/interrupts.h"

namespace {

u64 g_apic_ticks[kMaxCpus];

}  // namespace

// The least of several tries: a machine that is busy with other things only ever makes it longer.
void calibrate_iterations() {
  u64 least = ~0ull;
  for (u32 i = 0; i < 50; ++i) {
    apic_timer_count();
    spin(50000);
    const u64 ticks = apic_timer_elapsed();
    if (ticks < least) least = ticks;
  }
  g_apic_ticks[this_cpu().id] = least / 50;
}

u64 apic_ticks_per_1000_iterations() { return g_apic_ticks[this_cpu().id]; }

// xorshift64 (Marsaglia 2003), seeded by the vCPU's number.
u64 pseudo_random(u64 limit) {
  static u64 state[kMaxCpus];
  u64& x = state[this_cpu().id];
  if (!x) x = 0x9e3779b97f4a7c15 * (this_cpu().id + 1);
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  return (x >> 11) % limit;
}
