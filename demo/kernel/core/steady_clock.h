#pragma once

#include "core/types.h"

// The clock of the steady state, by the TSC.

// Starts it. The time is up after `seconds`; never for 0.
void start_steady_clock(u64 seconds);

bool time_is_up();
// It is up now.
void end_steady_clock();

// TSC ticks since the start.
u64 steady_state_ticks();
