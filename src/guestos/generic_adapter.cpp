#include "guestos/generic_adapter.h"

#include <utility>

#include "arch/arch_info.h"
#include "arch/execution_mode.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

// Kernels' interrupt stacks have 4 to 32 KiB. Too much costs a wasted copy, too little a truncated
// stack.
constexpr std::uint64_t kStackSize = 32 * 1024;

// Copies the stack of user code, and nothing in kernel mode.
std::vector<wire::RecipeOp> user_stack_recipe(Arch arch) {
  using enum wire::RecipeOpcode;
  enum Slot : std::uint8_t { kSp, kLevel };
  const arch::UserMode& user = arch::info_of(arch).user_mode;
  constexpr auto kUserStack = static_cast<std::uint8_t>(wire::PieceKind::kUserStack);
  return {
      {kRegister, kLevel, user.reg, 0, 4, 0},
      {kMask, kLevel, kLevel, 0, 0, user.mask},
      {kSkipIfNotEqual, 0, kLevel, 0, 2, user.value},
      {kRegister, kSp, arch::roles_of(arch).sp, 0, 1, 0},
      {kCopyStack, 0, kSp, kUserStack, 0, 0},
  };
}

}  // namespace

GenericAdapter::GenericAdapter(Arch arch, const AdapterOptions& options)
    : Adapter(arch), ids_(options.address_space_ids), processes_(options) {}

bool GenericAdapter::adopt(Arch arch) { return std::exchange(arch_, arch) != arch; }

void GenericAdapter::take_over(Adapter& before) {
  if (auto* const other = dynamic_cast<GenericAdapter*>(&before))
    processes_.take_over(other->processes_);
}

Result<Owner> GenericAdapter::owner_of(const wire::Capture& capture, GuestMemory& memory,
                                       ProcessNews& news) {
  const auto root = arch::user_root(capture.arch, capture.registers);
  if (!root) return Owner();
  RINGSIDE_ASSIGN(Owner owner, processes_.owner_of(capture, *root, memory, news));
  const bool is_x86 = arch::info_of(arch_).is_x86;
  owner.finds_user_by_unwinding = is_x86 && capture.level == PrivilegeLevel::kKernel;
  return owner;
}

std::vector<wire::RecipeOp> GenericAdapter::recipe(VcpuId,
                                                   std::span<const LearntLink> learnt) const {
  std::vector<StackTop> tops;
  std::vector<GuestVirt> user_slots;
  for (const LearntLink& link : learnt)
    if (link.leads_to_user)
      user_slots.push_back(link.slot);
    else
      tops.push_back({.slot = link.slot, .returns_to = link.returns_to});
  auto recipe = stack_recipe(arch_, tops, kStackSize);
  if (!knows_programs() || recipe.empty()) return recipe;
  add_user_stack(arch_, user_slots, kStackSize, recipe);
  const auto user_stack = user_stack_recipe(arch_);
  recipe.insert(recipe.begin(), user_stack.begin(), user_stack.end());
  return recipe;
}

}  // namespace ringside::guestos
