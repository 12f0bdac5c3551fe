#pragma once

#include <span>
#include <vector>

#include "base/types.h"
#include "wire/recipe.h"

namespace ringside::guestos {

// A slot at the top of a stack, or its lowest word, in which entry code keeps the stack pointer
// that it left.
struct StackTop {
  enum class Kind : std::uint8_t {
    kTop,     // call-frame information or an interrupt frame describes the switch
    kPopped,  // the entry code pops the stack pointer from it: the unwinder is told
              // (PieceKind::kStackLink)
    kBottom,  // as kTop, but the slot is the stack's lowest word, and was filled in by the caller
              // of the function that switches: that function's frame is copied too
  };
  GuestVirt slot;
  Kind kind = Kind::kTop;
};

// The recipe for an architecture (which must be known): the current stack and, where the stack
// pointer is within `stack_size` bytes below a known top, the stack that was left there; and so on
// from that stack, by the tops that come later. User code is not copied: it is one frame until its
// process is known.
[[nodiscard]] std::vector<wire::RecipeOp> stack_recipe(Arch arch, std::span<const StackTop> tops,
                                                       std::uint64_t stack_size);

}  // namespace ringside::guestos
