#pragma once

#include "arch/cpu.h"
#include "arch/instructions.h"

// Exclusive time per function, by the TSC, per vCPU.
//
// Cpu::stolen grows by all time that was taken from the code that runs now: by interrupts (of the
// level above only; each level counts its own) and by other threads. A span's own time is its TSC
// difference less the growth of `stolen`.

struct Moment {
  u64 tsc, stolen;
};

INLINE Moment moment() {
  Cpu& cpu = this_cpu();
  for (;;) {
    const u64 stolen = cpu.stolen;
    const u64 tsc = read_tsc();
    if (stolen == cpu.stolen) return {tsc, stolen};  // else an interrupt came between the two
  }
}

INLINE u64 own_time(Moment start, Moment end) {
  return (end.tsc - start.tsc) - (end.stolen - start.stolen);
}

// Estimates from `ticks`, measured for `units` of work, how many it would have taken had the host
// done nothing meanwhile. The guest cannot see under TCG that its processor was taken away, nor
// that its clock stood still while it ran, as it does at each stop of QEMU's, but it knows what the
// same work usually costs: a span a quarter off that is charged at it. The usual cost is a running
// median. It follows where the host becomes slower for good, and no single span moves it far: were
// it the fastest or an average, a few spans with a clock that stood still would make all others
// wrong. The first few spans teach; they are charged at the fastest of them, all at once: where the
// host is slow and a run has few spans, to leave them out would take more from what is timed in
// long spans.
constexpr u64 kTeachingSpans = 8;
INLINE u64 undisturbed(Pace& pace, u64 ticks, u64 units) {
  Measurements& measured = this_cpu().measured;
  const u64 each = (ticks << 16) / units;
  ++measured.spans;
  if (++pace.spans <= kTeachingSpans) {
    if (pace.spans == 1 || each < pace.usual) pace.usual = each;
    pace.uncharged += units;
    return pace.spans < kTeachingSpans ? 0 : pace.usual * pace.uncharged >> 16;
  }
  const u64 step = pace.usual / 64;
  pace.usual = each > pace.usual ? pace.usual + step : pace.usual - step;
  const u64 off = each > pace.usual ? each - pace.usual : pace.usual - each;
  if (off <= pace.usual / 4) return ticks;
  ++measured.disturbed_spans;
  return pace.usual * units >> 16;
}

INLINE void account(u32 function, u64 ticks) {
  Measurements& measured = this_cpu().measured;
  measured.ticks[function] += ticks;
  measured.calls[function] += 1;
}

// `units` of work of `function` took `ticks`. Returns what was charged.
INLINE u64 account_work(u32 function, u64 ticks, u64 units) {
  const u64 charged = undisturbed(this_cpu().measured.pace[function], ticks, units);
  account(function, charged);
  return charged;
}

// The first and last thing in every interrupt handler.
class InterruptTime {
 public:
  INLINE InterruptTime() : start_(read_tsc()), outer_(this_cpu().stolen) { this_cpu().stolen = 0; }
  INLINE ~InterruptTime() { this_cpu().stolen = outer_ + (read_tsc() - start_); }

 private:
  u64 start_, outer_;
};
