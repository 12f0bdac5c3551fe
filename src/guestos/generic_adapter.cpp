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
void copy_user_stack(wire::RecipeBuilder& recipe, Arch arch) {
  const auto sp = recipe.slot();
  const auto end = recipe.recipe_end();
  go_if_kernel(recipe, arch, end);
  recipe.read_register(sp, arch::roles_of(arch).sp, end);
  recipe.copy_stack(sp, wire::PieceKind::kUserStack);
}

}  // namespace

GenericAdapter::GenericAdapter(Arch arch, const AdapterOptions& options)
    : Adapter(arch), ids_(options.address_space_ids), processes_(options) {}

bool GenericAdapter::adopt(Arch arch) { return std::exchange(arch_, arch) != arch; }

Result<std::shared_ptr<const UserInterrupts>> GenericAdapter::user_interrupts(
    const elf::Image& kernel, VirtualMemory& memory,
    const std::function<Result<arch::Registers>()>& registers) {
  RINGSIDE_ASSIGN(auto entries, entry_finder_.find(kernel, memory, registers));
  if (entries.empty() || entries == kernel_entries_) return nullptr;
  kernel_entries_ = entries;
  return std::make_shared<const UserInterrupts>(kernel, std::move(entries));
}

void GenericAdapter::take_over(Adapter& before) {
  if (auto* const other = dynamic_cast<GenericAdapter*>(&before))
    processes_.take_over(other->processes_);
}

Result<TaskAttribution> GenericAdapter::attribute(const wire::Capture& capture, GuestMemory& memory,
                                                  ProcessUpdates& updates) {
  const auto root = arch::user_root(capture.arch, capture.registers);
  if (!root) return TaskAttribution();
  RINGSIDE_ASSIGN(TaskAttribution attribution,
                  processes_.attribute(capture, *root, memory, updates));
  const bool is_x86 = arch::info_of(arch_).is_x86;
  attribution.finds_user_by_unwinding = is_x86 && capture.level == PrivilegeLevel::kKernel;
  return attribution;
}

std::vector<wire::RecipeOp> GenericAdapter::recipe(VcpuId, const Learnt& learnt) const {
  if (!arch::roles_of(arch_).known()) return {};
  KernelStacks stacks{.size = kStackSize};
  for (const LearntLink& link : learnt.links)
    if (!link.leads_to_user)
      stacks.tops.push_back({.slot = link.slot, .returns_to = link.returns_to});
    else if (knows_programs())
      stacks.to_user.push_back(link.slot);
  wire::RecipeBuilder recipe;
  if (knows_programs()) {
    copy_user_stack(recipe, arch_);
    recipe.next_recipe();
  }
  copy_stacks(recipe, arch_, stacks);
  return recipe.take();
}

}  // namespace ringside::guestos
