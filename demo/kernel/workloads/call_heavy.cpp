#include "workloads/interrupts.h"
#include "workloads/work.h"

// Tiny functions, where most of the time goes into calls, prologues and epilogues. They have no counted loop: their
// share is a share of time, made true by timing them before the steady state against the loop.

namespace {

constexpr u32 kFunctions = 7;  // call_heavy and tiny_a to tiny_f

struct [[gnu::aligned(64)]] Calibration {
  u64 calls_per_percent;
  u64 ticks[kFunctions];  // own time of each, of one call
  u64 sum;
};
Calibration g_calibration[kMaxCpus];

INLINE Calibration& calibration() { return g_calibration[this_cpu().id]; }

}  // namespace

extern "C" void tiny_f(u64 n) { asm volatile("" : "+r"(n)); }
CALLS(tiny_e, tiny_f)
CALLS(tiny_d, tiny_e)
CALLS(tiny_c, tiny_d)
CALLS(tiny_b, tiny_c)
CALLS(tiny_a, tiny_b)

extern "C" void call_heavy(u64 calls) {
  for (; calls; --calls) tiny_a(calls);
}

namespace {

constexpr u64 kBatch = 5000;

// The least time of `kBatch` calls.
template <auto Function>
u64 least_time() {
  u64 least = ~0ull;
  for (u32 attempt = 0; attempt < 50; ++attempt) {
    const u64 start = read_tsc();
    for (u64 i = kBatch; i; --i) Function(i);
    const u64 ticks = read_tsc() - start;
    if (ticks < least) least = ticks;
  }
  return least;
}

u64 least_time_of_1000_iterations() {
  u64 least = ~0ull;
  for (u32 attempt = 0; attempt < 50; ++attempt) {
    const u64 start = read_tsc();
    spin(50000);
    const u64 ticks = read_tsc() - start;
    if (ticks < least) least = ticks;
  }
  return least / 50;
}

u64 difference(u64 a, u64 b) { return a > b ? a - b : 1; }

}  // namespace

// A function's own time is its time less that of the one it calls. The timing loop itself costs what call_heavy costs.
void calibrate_call_heavy() {
  const u64 times[] = {least_time<tiny_a>(), least_time<tiny_b>(), least_time<tiny_c>(),
                       least_time<tiny_d>(), least_time<tiny_e>(), least_time<tiny_f>()};
  Calibration& result = calibration();
  for (u32 i = 0; i < 5; ++i) result.ticks[i + 1] = difference(times[i], times[i + 1]);
  // tiny_f and the loop around it are what is left; call_heavy's loop makes a call as tiny_e does.
  result.ticks[6] = times[5] / 2;
  result.ticks[0] = times[5] - times[5] / 2;
  result.sum = times[0];
  result.calls_per_percent = kInterruptsPercent / 1000 * least_time_of_1000_iterations() * kBatch / times[0];
}

u64 call_heavy_calls_per_percent() { return calibration().calls_per_percent; }

void account_call_heavy(u64 ticks) {
  const Calibration& known = calibration();
  for (u32 i = 0; i < kFunctions; ++i) account(kCallHeavy + i, ticks * known.ticks[i] / known.sum);
}
