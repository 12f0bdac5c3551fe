#include "workloads/interrupts.h"
#include "workloads/work.h"

// Tiny functions, where most of the time goes into calls, prologues and epilogues. They have no
// counted loop: their share is a share of time, held by measuring. How it is divided among them is
// measured before the steady state.

namespace {

constexpr u32 kFunctions = 7;  // call_heavy and tiny_a to tiny_f

struct [[gnu::aligned(64)]] Calibration {
  u64 ticks[kFunctions];  // own time of each, of one call
  u64 sum;
  Pace pace;  // of a batch
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

constexpr u64 kBatch = 500;

// The least time of `kBatch` calls.
template <auto Function>
u64 least_time() {
  u64 least = ~0ull;
  for (u32 attempt = 0; attempt < 400; ++attempt) {
    const u64 start = read_tsc();
    for (u64 i = kBatch; i; --i) Function(i);
    const u64 ticks = read_tsc() - start;
    if (ticks < least) least = ticks;
  }
  return least;
}

u64 difference(u64 a, u64 b) { return a > b ? a - b : 1; }

}  // namespace

// A function's own time is its time less that of the one it calls. call_heavy's loop makes a call
// and tiny_f takes one: together they cost what one of the others costs.
void calibrate_call_heavy() {
  const u64 times[] = {least_time<tiny_a>(), least_time<tiny_b>(), least_time<tiny_c>(),
                       least_time<tiny_d>(), least_time<tiny_e>(), least_time<tiny_f>()};
  Calibration& result = calibration();
  for (u32 i = 0; i < 5; ++i) result.ticks[i + 1] = difference(times[i], times[i + 1]);
  result.ticks[0] = times[5] / 2;
  result.ticks[6] = times[5] - times[5] / 2;
  result.sum = times[0];
}

void call_heavy_up_to(u64 numerator, u64 denominator) {
  const Calibration& known = calibration();
  const Measurements& measured = this_cpu().measured;
  u64 counted = 0, tiny = 0;
  for (u32 i = 0; i <= kFlushTranslations; ++i) {
    const bool is_tiny = i >= kCallHeavy && i <= kTinyF;
    (is_tiny ? tiny : counted) += measured.ticks[i];
  }
  const u64 target = counted * numerator / denominator;
  while (tiny < target) {
    const Moment start = moment();
    call_heavy(kBatch);
    const u64 ticks = undisturbed(calibration().pace, own_time(start, moment()), 1);
    for (u32 i = 0; i < kFunctions; ++i)
      account(kCallHeavy + i, ticks * known.ticks[i] / known.sum);
    tiny += ticks;
  }
}
