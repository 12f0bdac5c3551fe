#include "guestos/stack_recipe.h"

namespace ringside::guestos {

using enum wire::RecipeOpcode;

namespace {

// A register that says whether kernel code runs: it does where register & mask == value.
struct KernelTest {
  std::uint8_t reg = 0;
  std::uint64_t mask = 0;
  std::uint64_t value = 0;
};

KernelTest kernel_test(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return {wire::x86_64::kCs, 3, 0};
    case Arch::kI386:
      return {wire::i386::kCs, 3, 0};
    case Arch::kAArch64:
      return {wire::aarch64::kCpsr, 0x1c, 4};  // PSTATE.M: AArch64, exception level 1
    case Arch::kRiscv64:
      return {wire::riscv64::kPriv, 3, 1};
    case Arch::kUnknown:
      break;
  }
  return {};
}

// The frame of the function that switches stacks, Linux's call_on_stack() (16 bytes with GCC 12):
// it lies below the stack pointer that its caller stored.
constexpr std::uint64_t kSwitchFrame = 64;

}  // namespace

std::vector<wire::RecipeOp> stack_recipe(Arch arch, std::span<const StackTop> tops,
                                         std::uint64_t stack_size) {
  const wire::RegisterRoles roles = wire::roles_of(arch);
  if (!roles.known()) return {};
  constexpr std::uint32_t kToEnd = 0xffff;
  constexpr auto kind = [](wire::PieceKind piece) { return static_cast<std::uint8_t>(piece); };
  enum Slot : std::uint8_t { kSp, kLevel, kTop, kDistance };

  const KernelTest kernel = kernel_test(arch);
  std::vector<wire::RecipeOp> ops = {
      {kRegister, kLevel, kernel.reg, 0, kToEnd, 0},
      {kMask, kLevel, kLevel, 0, 0, kernel.mask},
      {kSkipIfNotEqual, 0, kLevel, 0, kToEnd, kernel.value},
      {kRegister, kSp, roles.sp, 0, kToEnd, 0},
      {kCopyStack, 0, kSp, kind(wire::PieceKind::kCurrentStack), 0, 0},
  };
  for (const StackTop& top : tops) {
    const bool popped = top.kind == StackTop::Kind::kPopped;
    const bool bottom = top.kind == StackTop::Kind::kBottom;
    const std::uint32_t body = popped || bottom ? 3 : 2;
    ops.push_back({kSet, kTop, 0, 0, 0, top.slot.value});
    ops.push_back({kSubtract, kDistance, bottom ? kSp : kTop, bottom ? kTop : kSp, 0, 0});
    ops.push_back({kSkipIfNotLess, 0, kDistance, 0, body, stack_size + (bottom ? 1 : 0)});
    if (popped)
      ops.push_back({kCopy, 0, kTop, kind(wire::PieceKind::kStackLink), 0, roles.pointer_size});
    ops.push_back({kLoad, kSp, kTop, roles.pointer_size, bottom ? 2u : 1u, 0});
    if (bottom) ops.push_back({kAdd, kSp, kSp, 0, 0, 0 - kSwitchFrame});
    ops.push_back({kCopyStack, 0, kSp, kind(wire::PieceKind::kInterruptedStack), 0, 0});
  }
  return ops;
}

}  // namespace ringside::guestos
