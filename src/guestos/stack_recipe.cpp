#include "guestos/stack_recipe.h"

namespace ringside::guestos {

using enum wire::RecipeOpcode;

std::vector<wire::RecipeOp> stack_recipe(std::span<const StackTop> tops, std::uint64_t stack_size) {
  constexpr std::uint32_t kToEnd = 0xffff;
  constexpr auto kind = [](wire::PieceKind piece) { return static_cast<std::uint8_t>(piece); };
  enum Slot : std::uint8_t { kSp, kCs, kTop, kDistance, kLeft };

  std::vector<wire::RecipeOp> ops = {
      {kRegister, kCs, wire::x86_64::kCs, 0, kToEnd, 0},
      {kMask, kCs, kCs, 0, 0, 3},
      {kSkipIfNotEqual, 0, kCs, 0, kToEnd, 0},
      {kRegister, kSp, wire::x86_64::kRsp, 0, kToEnd, 0},
      {kCopyStack, 0, kSp, kind(wire::PieceKind::kCurrentStack), 0, 0},
  };
  for (const StackTop& top : tops) {
    const std::uint32_t body = top.popped ? 3 : 2;
    ops.push_back({kSet, kTop, 0, 0, 0, top.slot.value});
    ops.push_back({kSubtract, kDistance, kTop, kSp, 0, 0});
    ops.push_back({kSkipIfNotLess, 0, kDistance, 0, body, stack_size});
    if (top.popped) ops.push_back({kCopy, 0, kTop, kind(wire::PieceKind::kStackLink), 0, 8});
    ops.push_back({kLoad, kLeft, kTop, 0, 1, 0});
    ops.push_back({kCopyStack, 0, kLeft, kind(wire::PieceKind::kInterruptedStack), 0, 0});
  }
  return ops;
}

}  // namespace ringside::guestos
