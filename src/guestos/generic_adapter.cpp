#include "guestos/generic_adapter.h"

#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

// Kernels' interrupt stacks have 4 to 32 KiB. Too much costs a wasted copy, too little a truncated
// stack.
constexpr std::uint64_t kStackSize = 32 * 1024;

}  // namespace

std::vector<wire::RecipeOp> GenericAdapter::recipe(VcpuId,
                                                   std::span<const GuestVirt> learnt) const {
  std::vector<StackTop> tops;
  for (const GuestVirt slot : learnt) tops.push_back({slot, false});
  return stack_recipe(tops, kStackSize);
}

}  // namespace ringside::guestos
