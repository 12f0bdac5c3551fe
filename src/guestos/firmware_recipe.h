#pragma once

#include <optional>

#include "base/types.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// Where a vCPU of riscv64 is in firmware, lets the recipes behind this one see the registers and
// the memory of the code that firmware has interrupted: at its entry's first instruction, and where
// it has saved them at `frame` (wire/firmware_frame.h), which is copied. Anywhere else it does
// nothing.
void enter_interrupted_code(wire::RecipeBuilder& recipe, std::optional<GuestVirt> frame);

}  // namespace ringside::guestos
