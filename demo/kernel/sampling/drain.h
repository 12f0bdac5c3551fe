#pragma once

#include "core/types.h"

// The daemon that drains the rings of ringside's guest library.

// Reads drain=; false where there is none. `rings` is how many vCPUs have one. `is_redox`: they are
// Redox' rings, whose words go to a port of each vCPU's own, from COM2 on, or to a disk, for
// nothing in them says whose they are.
bool choose_drain(u32 rings, bool is_redox);

// Makes its thread, on this vCPU, which alone wakes it. It sleeps until then.
void make_drain_daemon();
void wake_drain_daemon();

// Drains what there is, on any vCPU. Returns when it is done, or somebody else is at it.
void drain_some();
// Drains all that is left, when sampling is off, for good. Returns the bytes that were ever
// drained.
u64 drain_the_rest();
