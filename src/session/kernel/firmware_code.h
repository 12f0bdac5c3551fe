#pragma once

#include "wire/capture.h"

namespace ringside::session {

// Where a capture of firmware has the registers of the code that it interrupted, copied by the
// recipe (guestos/firmware_recipe.h) or found on firmware's stack, makes it a capture of that code:
// its registers and its level, and Capture::firmware reports the rest. Nothing of that code's
// memory is there in the second case. False: the capture is as it was. On riscv64 only: an
// OpenSBI's, or of any other firmware with frames like its.
bool enter_interrupted_code(wire::Capture& capture);

}  // namespace ringside::session
