#pragma once

#include "wire/capture.h"

namespace ringside::session {

// A vCPU of riscv64 whose last trap has interrupted the first instruction of the entry of traps, in
// machine mode: that instruction cannot run, and the trap is repeated for good. No instruction
// runs.
[[nodiscard]] bool repeats_a_trap(const wire::Capture& capture);

// Leaves the pc, which lies in no code, and nothing to walk from.
void keep_pc_alone(wire::Capture& capture);

}  // namespace ringside::session
