#include "guestos/linux/tasks/task_recipe.h"

#include "arch/arch_info.h"
#include "guestos/linux/linux_arch.h"
#include "guestos/linux/tasks/return_hooks.h"
#include "guestos/linux/tasks/task_layout.h"
#include "guestos/linux/tasks/task_pieces.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

using Label = wire::RecipeBuilder::Label;
using Slot = wire::RecipeBuilder::Slot;
using wire::PieceKind;

// How the stack pointer of user code was found in kernel mode, while the recipe runs.
enum SpFrom : std::uint64_t { kNowhere, kEntryCode, kCopied };

class TaskRecipe {
 public:
  TaskRecipe(wire::RecipeBuilder& recipe, const TaskSource& source, VcpuId vcpu)
      : recipe_(recipe), source_(source), types_(*source.types), vcpu_(vcpu) {}

  void write() {
    const auto no_task = recipe_.label();
    ask_entry_code();
    find_task(no_task);
    copy(task_, task_window(types_.task), kTaskTag);
    copy(task_, window_of(types_.task.comm), kNameTag);
    if (source_.copies_hooked_returns) copy_traced_returns();
    recipe_.load(mm_, {task_, types_.task.mm.offset}, pointer_, no_task);
    recipe_.go_if_equal(mm_, 0, no_task);
    copy(mm_, space_window(types_), kSpaceTag);
    copy_user_state();
    if (source_.copies_program) {
      say_who_runs(no_task);
      copy_program(no_task);
    }
    recipe_.bind(no_task);
    copy_remaining_stack();
  }

 private:
  void copy(Slot base, const Window& window, TaskPiece tag) {
    recipe_.copy({base, window.start}, window.size(), PieceKind::kSystem, tag);
  }

  void ask_entry_code() {
    if (source_.entry_code == nullptr) return;
    const auto nothing = recipe_.label();
    go_if_user(recipe_, types_.arch, nothing);
    source_.entry_code->find_user_stack(recipe_, vcpu_, sp_, nothing);
    recipe_.set(sp_from_, kEntryCode);
    recipe_.bind(nothing);
  }

  // By the kernel's register, else by its variable.
  void find_task(Label no_task) {
    constexpr std::uint64_t kKernelHalf = std::uint64_t{1} << 63;
    const auto found = recipe_.label();
    if (const auto& reg = source_.linux_arch->current_register) {
      const auto by_variable = recipe_.label();
      go_if_user(recipe_, types_.arch, by_variable);
      recipe_.read_register(task_, *reg, by_variable);
      // Entry code's first instructions still have the user's value.
      recipe_.go_if_not_less(task_, kKernelHalf, found);
      recipe_.bind(by_variable);
    }
    load_variable(no_task);
    recipe_.bind(found);
  }

  void load_variable(Label no_task) {
    if (!source_.variable) return recipe_.go(no_task);
    const auto at = recipe_.slot();
    if (const auto& distance = source_.linux_arch->per_cpu_offset)
      recipe_.read_register(at, *distance, no_task);
    recipe_.load(task_, {at, source_.variable->value}, pointer_, no_task);
  }

  // In kernel mode: user code's registers at the end of the task's stack, and the stack that they
  // point to.
  void copy_user_state() {
    const auto& pt_regs = types_.user_registers;
    const auto stack = recipe_.slot();
    const auto saved = recipe_.slot();
    const auto end = recipe_.label();
    const auto has_sp = recipe_.label();
    go_if_user(recipe_, types_.arch, end);
    recipe_.load(stack, {task_, types_.task.stack.offset}, pointer_, end);
    recipe_.add(saved, stack, types_.thread_size - pt_regs.below_stack_end);
    recipe_.copy({saved}, static_cast<std::uint32_t>(pt_regs.size), PieceKind::kSystem,
                 kUserRegistersTag);
    recipe_.go_if_equal(sp_from_, kEntryCode, has_sp);
    recipe_.load(sp_, {saved, offset_of(roles_.sp)}, pointer_, end);
    if (types_.arch == Arch::kI386) {
      // `sysenter` leaves it in ebp, and C code puts it in its place.
      recipe_.go_if_not_equal(sp_, 0, has_sp);
      recipe_.load(sp_, {saved, offset_of(roles_.fp)}, pointer_, has_sp);
    }
    recipe_.bind(has_sp);
    copy_stack();
    recipe_.set(sp_from_, kCopied);
    recipe_.bind(end);
  }

  void copy_traced_returns() {
    const auto end = recipe_.label();
    go_if_user(recipe_, types_.arch, end);
    copy_hooked_returns(recipe_, types_, task_);
    recipe_.bind(end);
  }

  void copy_stack() {
    if (source_.user_tables == nullptr) return recipe_.copy_stack(sp_, PieceKind::kUserStack);
    const auto table = recipe_.slot();
    const auto end = recipe_.label();
    recipe_.load(table, {mm_, types_.mm.pgd.offset}, pointer_, end);
    copy_user_stack(recipe_, *source_.user_tables, types_.arch, {sp_, table}, end);
    recipe_.bind(end);
  }

  void say_who_runs(Label end) {
    const auto tgid = recipe_.slot();
    recipe_.load(tgid, {task_, types_.task.tgid.offset}, types_.task.tgid.size, end);
    recipe_.emit(tgid, wire::kRunnerTag);
  }

  // Leads from an address space to the file that it was made for. In user mode and in the kernel:
  // as long as a task runs in an address space that has the file, and all that is read here.
  void copy_program(Label end) {
    const auto at = recipe_.slot();
    recipe_.load(at, {mm_, types_.mm.exe_file.offset}, pointer_, end);
    recipe_.load(at, {at, types_.file.inode.offset}, pointer_, end);
    copy(at, inode_window(types_.inode), kInodeTag);
    copy(at, window_of(types_.inode.generation), kInodeGenerationTag);
    recipe_.load(at, {at, types_.inode.super_block.offset}, pointer_, end);
    copy(at, window_of(types_.super_block_device), kInodeDeviceTag);
  }

  // In kernel mode where the task cannot be read, for the page tables are user code's; in user mode
  // the vCPU's own.
  void copy_remaining_stack() {
    const auto has_stack = recipe_.label();
    const auto end = recipe_.recipe_end();
    recipe_.go_if_not_equal(sp_from_, kEntryCode, has_stack);
    recipe_.copy_stack(sp_, PieceKind::kUserStack);
    recipe_.bind(has_stack);
    go_if_kernel(recipe_, types_.arch, end);
    recipe_.read_register(sp_, roles_.sp, end);
    recipe_.copy_stack(sp_, PieceKind::kUserStack);
  }

  [[nodiscard]] std::uint64_t offset_of(std::uint8_t reg) const {
    return static_cast<std::uint64_t>(types_.user_registers.frame.offsets[reg]);
  }

  wire::RecipeBuilder& recipe_;
  const TaskSource& source_;
  const LinuxTypes& types_;
  VcpuId vcpu_;
  const arch::RegisterRoles& roles_ = arch::roles_of(types_.arch);
  unsigned pointer_ = roles_.pointer_size;
  Slot task_ = recipe_.slot();
  Slot mm_ = recipe_.slot();
  Slot sp_ = recipe_.slot();  // user code's
  Slot sp_from_ = recipe_.slot();
};

}  // namespace

void copy_task(wire::RecipeBuilder& recipe, const TaskSource& source, VcpuId vcpu) {
  TaskRecipe(recipe, source, vcpu).write();
}

}  // namespace ringside::guestos
