#pragma once

#include "base/types.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

// Where a vCPU is in firmware that has saved the registers of the code that it interrupted at
// `frame` (wire/firmware_frame.h, riscv64), copies them, and lets the recipes behind this one see
// that code's registers and memory. Anywhere else it does nothing.
void enter_interrupted_code(wire::RecipeBuilder& recipe, GuestVirt frame);

}  // namespace ringside::guestos
