#pragma once

#include "wire/capture.h"

namespace ringside::session {

// Makes a capture of firmware one of the code that firmware has interrupted, with its level, where
// the last trap was of less privileged code: mepc has its pc. Capture::firmware reports the rest.
// That code's registers are the vCPU's own at the first instruction of firmware's entry. Later the
// recipe has copied them (guestos/firmware_recipe.h), or they are found on firmware's stack, and
// nothing of that code's memory is there; else the supervisor's pc alone is known. False: the
// capture is as it was, and with user code where that is not wanted. riscv64 only; frames like
// OpenSBI's.
bool enter_interrupted_code(wire::Capture& capture, bool wants_user);

}  // namespace ringside::session
