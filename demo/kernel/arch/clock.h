#pragma once

#include "core/types.h"

// Measures the TSC and the local APIC timer against the PIT, whose frequency is known. Once, on the
// boot CPU.
void calibrate_clocks();

u64 tsc_per_second();
u32 apic_ticks_per_second();
