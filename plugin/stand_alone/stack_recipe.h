#pragma once

#include <vector>

#include "wire/recipe.h"

namespace ringside::plugin {

// Copies the stack that the vCPU is on. On an x86_64 machine a 32-bit system may run, whose
// registers have other numbers: it has no rip.
[[nodiscard]] std::vector<wire::RecipeOp> stack_recipe(Arch arch);

}  // namespace ringside::plugin
