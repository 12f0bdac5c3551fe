#include "guestos/generic_adapter.h"

#include <utility>

#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

// Kernels' interrupt stacks have 4 to 32 KiB. Too much costs a wasted copy, too little a truncated
// stack.
constexpr std::uint64_t kStackSize = 32 * 1024;

}  // namespace

bool GenericAdapter::adopt(Arch arch) { return std::exchange(arch_, arch) != arch; }

std::vector<wire::RecipeOp> GenericAdapter::recipe(VcpuId,
                                                   std::span<const LearntLink> learnt) const {
  std::vector<StackTop> tops;
  for (const LearntLink& link : learnt)
    tops.push_back({.slot = link.slot, .returns_to = link.returns_to});
  return stack_recipe(arch_, tops, kStackSize);
}

}  // namespace ringside::guestos
