#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/entry/entry_code.h"
#include "guestos/linux/tasks/task_view.h"
#include "guestos/linux/tasks/user_stack_recipe.h"
#include "guestos/linux/types/per_cpu.h"
#include "wire/capture.h"
#include "wire/recipe_builder.h"

namespace ringside::guestos {

struct LinuxArch;

// Which task a vCPU runs, and what user code it runs for: the part of a capture recipe that copies
// it, and what the copies say. The kernel has the task in a register (aarch64, riscv64: user code
// has its own value there), and in a per-CPU variable: current_task (x86), the runqueue's curr
// (riscv64), the copy that entry code reads the register from (aarch64: __entry_task).
class CurrentTask {
 public:
  // With `copies_program` captures say which program they are of: three loads more. Error kNotFound
  // where the kernel's types and symbols do not say where things are.
  [[nodiscard]] static Result<CurrentTask> of(const elf::Image& kernel, const TypeSource& source,
                                              bool copies_program = false);

  [[nodiscard]] const LinuxTypes& types() const { return types_; }
  // Finds the variable of a CPU. False if that has no memory of its own yet.
  [[nodiscard]] Result<bool> find(std::size_t cpu, const PerCpu& per_cpu, VirtualMemory& memory);
  // Lets recipes walk the page tables of the task: all its copy() from now on.
  void adopt(UserTables tables) { user_tables_ = std::move(tables); }
  [[nodiscard]] bool knows_user_tables() const { return user_tables_.has_value(); }
  // Physical address of what the kernel allocates page tables from; nothing before adopt().
  [[nodiscard]] std::optional<std::uint64_t> from_linear(GuestVirt address) const {
    if (!user_tables_) return std::nullopt;
    return address.value - user_tables_->to_linear;
  }
  // A recipe: what read() needs, user code's stack and, if asked for, the return addresses that
  // tracers have put away.
  void copy(wire::RecipeBuilder& recipe, VcpuId vcpu, bool hooked_returns = false) const;
  // Nothing where it was not copied: user code ran without the kernel in its page tables.
  [[nodiscard]] std::optional<TaskView> read(const wire::Capture& capture) const;
  // Whether the user stack of a capture in kernel mode was found through the task's own page
  // tables, whichever the vCPU used.
  [[nodiscard]] bool has_walked(const wire::Capture& capture) const;
  // Whether the user registers that were copied with a capture are in the kernel's memory still, so
  // that the task has not been in user mode since, or is in the same place again.
  [[nodiscard]] Result<bool> is_still_in_kernel(const wire::Capture& capture,
                                                GuestSpace& kernel) const;
  // User code's registers in kernel mode, where nothing of the task could be copied.
  [[nodiscard]] std::optional<arch::Registers> user_registers(const wire::Capture& capture) const {
    return user_registers(capture, {});
  }
  // Where entry code leaves the pc of user code to the vDSO (EntryCode::landing_pad), finds it; the
  // task's `user` is gone where that fails. Errors: those of `memory`.
  [[nodiscard]] Result<void> find_user_pc(TaskView& task, GuestSpace& kernel) const;
  // Where the variable of the capture's vCPU lies, if there is one and it was found.
  [[nodiscard]] std::optional<GuestVirt> variable_of(const wire::Capture& capture) const;
  // The task that the kernel's register had in kernel mode, when the capture was taken.
  [[nodiscard]] std::optional<GuestVirt> in_register(const wire::Capture& capture) const;
  // User code's registers, where a capture has them among the bytes of the task's kernel stack,
  // which recipes before those of copy() have copied. Errors: those of `kernel`.
  [[nodiscard]] Result<void> find_saved(TaskView& task, const wire::Capture& capture,
                                        GuestSpace& kernel) const;

 private:
  [[nodiscard]] std::optional<GuestVirt> slot_of(VcpuId vcpu) const {
    return vcpu.value < slots_.size() ? slots_[vcpu.value] : std::nullopt;
  }
  CurrentTask(LinuxTypes types, const LinuxArch& linux_arch, std::unique_ptr<EntryCode> entry_code,
              std::optional<ImageAddr> variable, bool copies_program)
      : types_(types),
        linux_arch_(&linux_arch),
        entry_code_(std::move(entry_code)),
        variable_(variable),
        copies_program_(copies_program) {}
  [[nodiscard]] std::optional<arch::Registers> user_registers(
      const wire::Capture& capture, const EntryCode::Copied& copied) const;

  LinuxTypes types_;
  const LinuxArch* linux_arch_;
  std::unique_ptr<EntryCode> entry_code_;  // may be null
  std::optional<UserTables> user_tables_;
  std::optional<ImageAddr> variable_;  // per CPU
  GuestVirt variable_at_;              // the boot image's copy
  bool copies_program_;
  std::vector<std::optional<GuestVirt>> slots_;  // of the variable, by CPU
};

}  // namespace ringside::guestos
