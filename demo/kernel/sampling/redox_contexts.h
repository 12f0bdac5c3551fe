#pragma once

#include "core/types.h"

// Gives a context a name, "PROGRAM ID", in the map that Redox' kernel has them in
// (redox-os/kernel @ 663e6641, src/profiling.rs). Several vCPUs may do so.
void name_redox_context(u32 id, const char* program);
