#pragma once

#include "wire/capture.h"

namespace ringside::wire {

// Which code is to be sampled.
struct WantedModes {
  bool kernel = true;  // not -u
  bool user = true;    // not -k
};

// Says what becomes of a vCPU whose registers were read as the machine's: a 32-bit system on an
// x86_64 machine gets i386's, the privilege level is found, and the disposition is set, which may
// be kIdle already. True if a recipe is to be run that was written for `recipe_arch` (kUnknown: it
// names no registers).
[[nodiscard]] bool classify(Capture& capture, WantedModes wanted, Arch recipe_arch);

}  // namespace ringside::wire
