#pragma once

#include "arch/cpu.h"
#include "arch/instructions.h"

// Exclusive time per function, by the TSC, per vCPU.
//
// Cpu::stolen grows by all time that was taken from the code that runs now: by interrupts (of the level above only;
// each level counts its own) and by other threads. A span's own time is its TSC difference less the growth of `stolen`.

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

INLINE u64 own_time(Moment start, Moment end) { return (end.tsc - start.tsc) - (end.stolen - start.stolen); }

INLINE void account(u32 function, u64 ticks) {
  Cpu& cpu = this_cpu();
  cpu.measured.ticks[function] += ticks;
  cpu.measured.calls[function] += 1;
}

// The first and last thing in every interrupt handler.
class InterruptTime {
 public:
  INLINE InterruptTime() : start_(read_tsc()), outer_(this_cpu().stolen) { this_cpu().stolen = 0; }
  INLINE ~InterruptTime() { this_cpu().stolen = outer_ + (read_tsc() - start_); }

 private:
  u64 start_, outer_;
};
