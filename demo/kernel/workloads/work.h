#pragma once

#include "core/measure.h"
#include "core/spin.h"

// `iterations` of the one loop, charged to `function`. Inlined: the loop stands in the function that calls this.
INLINE void work(u32 function, u64 iterations) {
  const Moment start = moment();
  spin(iterations);
  account(function, own_time(start, moment()));
}

// extern "C" void name(u64 n) { callee(n); }: one more frame. The empty asm keeps it from being a jump.
#define CALLS(name, callee)        \
  extern "C" void name(u64 n) {    \
    callee(n);                     \
    asm volatile("" : : : "memory"); \
  }
