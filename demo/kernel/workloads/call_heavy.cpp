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

// Under TCG a return finds its block in a cache (tb_jmp_cache) whose entry within a page is address
// bits 0 to 5 xor bits 6 to 11, and pays for it where two returns that alternate have the same one
// (seen: eight times the time). So all of this is in one page, the tiny functions in a line of 64
// bytes each at its start, which return into the first 16 bytes of theirs; the loops, in lines
// below 32 (kernel.ld sees to it), take returns into the second half of a line. No two entries are
// the same then.
#define IN_TINY_LINE __attribute__((section(".text.call_heavy.tiny"), aligned(64)))
#define IN_LOOP_LINES __attribute__((section(".text.call_heavy.loops"), aligned(64)))
#define SECOND_HALF_OF_LINE asm volatile(".p2align 6\n\t.fill 32, 1, 0x90")

extern "C" {
IN_TINY_LINE void tiny_f(u64 n);
IN_TINY_LINE void tiny_e(u64 n);
IN_TINY_LINE void tiny_d(u64 n);
IN_TINY_LINE void tiny_c(u64 n);
IN_TINY_LINE void tiny_b(u64 n);
IN_TINY_LINE void tiny_a(u64 n);
IN_LOOP_LINES void call_heavy(u64 calls);
}

void tiny_f(u64 n) { asm volatile("" : "+r"(n)); }
CALLS(tiny_e, tiny_f)
CALLS(tiny_d, tiny_e)
CALLS(tiny_c, tiny_d)
CALLS(tiny_b, tiny_c)
CALLS(tiny_a, tiny_b)

void call_heavy(u64 calls) {
  for (; calls; --calls) {
    SECOND_HALF_OF_LINE;
    tiny_a(calls);
  }
}

namespace {

constexpr u64 kBatch = 500;

// The time of `kBatch` calls. Not a template: g++ 12 leaves a template out of its section.
#define TIME_OF(function)                  \
  IN_LOOP_LINES u64 time_of_##function() { \
    const u64 start = read_tsc();          \
    for (u64 i = kBatch; i; --i) {         \
      SECOND_HALF_OF_LINE;                 \
      function(i);                         \
    }                                      \
    return read_tsc() - start;             \
  }
TIME_OF(tiny_a)
TIME_OF(tiny_b)
TIME_OF(tiny_c)
TIME_OF(tiny_d)
TIME_OF(tiny_e)
TIME_OF(tiny_f)

constexpr u64 (*kTimes[])() = {time_of_tiny_a, time_of_tiny_b, time_of_tiny_c,
                               time_of_tiny_d, time_of_tiny_e, time_of_tiny_f};
constexpr u32 kTimed = kFunctions - 1;  // call_heavy and tiny_f are timed together

u64 difference(u64 a, u64 b) { return a > b ? a - b : 1; }

}  // namespace

// A function's own time is its least time less that of the one it calls. They take turns, for the
// host's speed changes: what was timed in one half of a second is not comparable with what was
// timed in the next. call_heavy's loop makes a call and tiny_f takes one: together they cost what
// one of the others costs.
void calibrate_call_heavy() {
  u64 least[kTimed];
  for (u64& ticks : least) ticks = ~0ull;
  for (u32 attempt = 0; attempt < 400; ++attempt) {
    for (u32 i = 0; i < kTimed; ++i) {
      const u64 ticks = kTimes[i]();
      if (ticks < least[i]) least[i] = ticks;
    }
  }
  Calibration& result = calibration();
  for (u32 i = 0; i + 1 < kTimed; ++i) result.ticks[i + 1] = difference(least[i], least[i + 1]);
  result.ticks[0] = least[kTimed - 1] / 2;
  result.ticks[kTimed] = least[kTimed - 1] - least[kTimed - 1] / 2;
  result.sum = least[0];
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
