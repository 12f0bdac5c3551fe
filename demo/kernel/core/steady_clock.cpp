#include "core/steady_clock.h"

#include "arch/clock.h"
#include "arch/instructions.h"

namespace {

u64 g_start, g_deadline;

}  // namespace

void start_steady_clock(u64 seconds) {
  g_start = read_tsc();
  g_deadline = seconds ? g_start + seconds * tsc_per_second() : ~0ull;
}

bool time_is_up() { return read_tsc() >= __atomic_load_n(&g_deadline, __ATOMIC_RELAXED); }

void end_steady_clock() { __atomic_store_n(&g_deadline, 0, __ATOMIC_RELAXED); }

u64 steady_state_ticks() { return read_tsc() - g_start; }
