#pragma once

#include "core/types.h"

// The time between "ready" and "done", common to all threads that work.

void expect_threads(u32 count);

// Waits for all threads. The last one prints the ready line and starts the clock.
extern "C" void wait_for_steady_state();

// The last thread prints the measurements and leaves the guest; the others end.
[[noreturn]] void leave_steady_state();
