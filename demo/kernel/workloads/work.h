#pragma once

#include "core/measure.h"
#include "core/spin.h"

// Timed at once; some 20 microseconds, long against reading the TSC, short against the time the
// host takes away.
constexpr u64 kTimedIterations = 8000;

// `iterations` of the one loop, charged to `function`; returns the ticks charged. Inlined: the loop
// stands in the function that calls this.
INLINE u64 work(u32 function, u64 iterations) {
  u64 charged = 0;
  for (u64 left = iterations; left;) {
    const u64 now = left < kTimedIterations ? left : kTimedIterations;
    const Moment start = moment();
    spin(now);
    charged += account_work(function, own_time(start, moment()), now);
    left -= now;
  }
  return charged;
}

// The same for a leaf that only spins and so has no frame: timed by its caller, which calls it with
// at most kTimedIterations at a time.
template <auto Leaf>
INLINE void call_leaf(u32 function, u64 iterations) {
  for (u64 left = iterations; left;) {
    const u64 now = left < kTimedIterations ? left : kTimedIterations;
    const Moment start = moment();
    Leaf(now);
    account_work(function, own_time(start, moment()), now);
    left -= now;
  }
}

#define CALLS_LEAF(name, leaf, function) \
  extern "C" void name(u64 n) { call_leaf<leaf>(function, n); }

// extern "C" void name(u64 n) { callee(n); }: one more frame. The empty asm keeps it from being a
// jump.
#define CALLS(name, callee)          \
  extern "C" void name(u64 n) {      \
    callee(n);                       \
    asm volatile("" : : : "memory"); \
  }
