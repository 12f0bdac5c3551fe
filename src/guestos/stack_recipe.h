#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "wire/recipe.h"

namespace ringside::guestos {

// A slot at the top of a stack from which entry code gets back the stack that it left.
struct StackTop {
  GuestVirt slot;
  // True where the entry code pops the stack pointer from it (PieceKind::kStackLink): the unwinder
  // is then told. False where call-frame information or an interrupt frame describes the switch.
  bool popped = false;
};

// The recipe for an architecture (which must be known): the current stack and, where the stack
// pointer is within `stack_size` bytes below a known top, the stack that was left there. User code
// is not copied: it is one frame until its process is known.
[[nodiscard]] std::vector<wire::RecipeOp> stack_recipe(Arch arch, std::span<const StackTop> tops,
                                                       std::uint64_t stack_size);

}  // namespace ringside::guestos
