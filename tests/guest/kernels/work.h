// The work that all of these kernels run: three functions that do 50, 30 and 20 % of it, each
// behind a chain of calls. The kernel measures how long each ran, and writes it to its serial port:
// an emulator runs the same loop at one place faster than at another. No word of this is an
// operating system's.
//
// A kernel defines READ_CLOCK (an expression: ticks at a constant rate) and UART (a byte to write
// to).
#pragma once

#include "spin.h"

// A round takes some milliseconds. While QEMU's main loop takes in a monitor's request to stop the
// guest, a vCPU that raises an exception or uses a device waits there, and is sampled there. That
// time, some tenths of a millisecond, has to be short beside a round.
enum { kUnit = 20000, kRoundsOfALine = 10 };

enum Work { kHalf, kThird, kFifth, kBelow, kWorks };
static u64 spent[kWorks];  // ticks since the start, interrupts included

#define MEASURED(work, call)           \
  do {                                 \
    const u64 start = READ_CLOCK;      \
    call;                              \
    spent[work] += READ_CLOCK - start; \
  } while (0)

static NOINLINE void spin_half(void) { SPIN(50 * kUnit); }
static NOINLINE void spin_third(void) { SPIN(30 * kUnit); }
static NOINLINE void spin_fifth(void) { SPIN(20 * kUnit); }

static NOINLINE void device_work(void) {
  MEASURED(kHalf, spin_half());
  MEASURED(kThird, spin_third());
}
static NOINLINE void one_round(void) {
  device_work();
  MEASURED(kFifth, spin_fifth());
}

static void put(const char* text) {
  while (*text) UART = *text++;
}

static void put_number(u64 number) {
  char text[24];
  char* at = text + sizeof text;
  *--at = 0;
  do *--at = '0' + number % 10;
  while (number /= 10);
  put(at);
}

// Every tenth call writes a line such as "spent: half 5000 third 3000 fifth 2000 below 1428".
static NOINLINE void report_spent(void) {
  static const char* const names[kWorks] = {" half ", " third ", " fifth ", " below "};
  static unsigned rounds;
  if (++rounds % kRoundsOfALine) return;
  put("spent:");
  for (int work = 0; work < kWorks; ++work) {
    put(names[work]);
    put_number(spent[work]);
  }
  put("\n");
}
