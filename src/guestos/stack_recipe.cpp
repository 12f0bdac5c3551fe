#include "guestos/stack_recipe.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::guestos {

using enum wire::RecipeOpcode;

namespace {

// How much of the stack that was left lies below the pointer to it. i386: the frame of the function
// that switches stacks, call_on_stack() (16 bytes with GCC 12), lies below the stack pointer that
// its caller stored. riscv64: the pointer is a frame pointer, below which its frame record lies.
std::uint64_t below_pointer(Arch arch, const StackTop& top) {
  if (top.kind == StackTop::Kind::kBottom) return 64;
  const arch::ArchInfo& info = arch::info_of(arch);
  return static_cast<std::uint64_t>(-info.frame_record.from_fp) * info.roles.pointer_size;
}

enum Slot : std::uint8_t { kSp, kLevel, kTop, kDistance, kLeft, kReturn };

constexpr std::uint8_t kind(wire::PieceKind piece) { return static_cast<std::uint8_t>(piece); }

// What to do on the stack that `top` belongs to.
std::vector<wire::RecipeOp> body_of(const StackTop& top, Arch arch) {
  const arch::RegisterRoles roles = arch::roles_of(arch);
  const wire::RecipeOp copy_left = {kCopyStack, 0, kLeft, kind(wire::PieceKind::kInterruptedStack),
                                    0,          0};
  const wire::RecipeOp go_below = {kAdd, kLeft, kLeft,
                                   0,    0,     std::uint64_t{0} - below_pointer(arch, top)};
  if (top.kind == StackTop::Kind::kEmpty)
    return {{kRegister, kLeft, roles.fp, 0, 2, 0}, go_below, copy_left};
  const bool learnt = top.kind == StackTop::Kind::kTop;
  const std::uint32_t behind_load = learnt ? 2 : 3;
  std::vector<wire::RecipeOp> body;
  if (top.kind == StackTop::Kind::kPopped)
    body.push_back({kCopy, 0, kTop, kind(wire::PieceKind::kStackLink), 0, roles.pointer_size});
  if (top.returns_to) {
    body.push_back({kLoad, kReturn, kTop, roles.pointer_size, behind_load + 3, roles.pointer_size});
    body.push_back({kMask, kReturn, kReturn, 0, 0, kReturnAddressBits});
    body.push_back({kSkipIfNotEqual, 0, kReturn, 0, behind_load + 1, *top.returns_to});
  }
  body.push_back({kLoad, kLeft, kTop, roles.pointer_size, behind_load, 0});
  body.push_back(go_below);
  body.push_back(copy_left);
  // A learnt slot may hold something else today: the next ones are looked at all the same.
  if (!learnt) body.push_back({kAdd, kSp, kLeft, 0, 0, 0});
  return body;
}

}  // namespace

std::vector<wire::RecipeOp> stack_recipe(Arch arch, std::span<const StackTop> tops,
                                         std::uint64_t stack_size, std::uint64_t alignment) {
  const arch::RegisterRoles roles = arch::roles_of(arch);
  if (!roles.known()) return {};
  constexpr std::uint32_t kToEnd = 0xffff;
  const arch::UserMode& user = arch::info_of(arch).user_mode;
  std::vector<wire::RecipeOp> ops = {
      {kRegister, kLevel, user.reg, 0, kToEnd, 0},
      {kMask, kLevel, kLevel, 0, 0, user.mask},
      {kSkipIfEqual, 0, kLevel, 0, kToEnd, user.value},
      {kRegister, kSp, roles.sp, 0, kToEnd, 0},
      {kCopyStack, 0, kSp, kind(wire::PieceKind::kCurrentStack), 0, 0},
  };
  for (const StackTop& top : tops) {
    const bool bottom = top.kind == StackTop::Kind::kBottom;
    const auto body = body_of(top, arch);
    const auto skip = static_cast<std::uint32_t>(body.size());
    ops.push_back({kSet, kTop, 0, 0, 0, top.slot.value});
    ops.push_back({kSubtract, kDistance, bottom ? kSp : kTop, bottom ? kTop : kSp, 0, 0});
    const std::uint64_t within = top.kind == StackTop::Kind::kEmpty ? 1 : stack_size;
    ops.push_back({kSkipIfNotLess, 0, kDistance, 0, skip, within + (bottom ? 1 : 0)});
    ops.insert(ops.end(), body.begin(), body.end());
  }
  for (wire::RecipeOp& op : ops)
    if (op.opcode == kCopyStack) op.imm = alignment;
  return ops;
}

void add_user_stack(Arch arch, std::span<const GuestVirt> slots, std::uint64_t stack_size,
                    std::vector<wire::RecipeOp>& recipe) {
  if (slots.empty()) return;
  constexpr std::uint64_t kUpperHalf = std::uint64_t{1} << 47;
  constexpr Slot kUserSp = kReturn;
  const wire::RecipeOp copy[] = {
      {kLoad, kUserSp, kTop, arch::roles_of(arch).pointer_size, 3, 0},
      {kSkipIfNotLess, 0, kUserSp, 0, 2, kUpperHalf},
      {kSkipIfEqual, 0, kUserSp, 0, 1, 0},
      {kCopyStack, 0, kUserSp, kind(wire::PieceKind::kUserStack), 0, 0},
  };
  std::vector<GuestVirt> sorted(slots.begin(), slots.end());
  std::sort(sorted.begin(), sorted.end());
  for (const Slot stack : {kSp, kLeft}) {
    // From the first slot that is above the stack's pointer to the copy.
    auto to_copy = static_cast<std::uint32_t>(3 * sorted.size() + 1);
    for (const GuestVirt slot : sorted) {
      to_copy -= 3;
      recipe.push_back({kSet, kTop, 0, 0, 0, slot.value});
      recipe.push_back({kSubtract, kDistance, kTop, stack, 0, 0});
      recipe.push_back({kSkipIfLess, 0, kDistance, 0, to_copy, stack_size});
    }
    recipe.push_back({kSkipIfNotLess, 0, kDistance, 0, std::size(copy), stack_size});
    recipe.insert(recipe.end(), std::begin(copy), std::end(copy));
  }
}

}  // namespace ringside::guestos
