#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "guestos/guest_memory.h"
#include "guestos/linux/entry/entry_code.h"
#include "guestos/linux/files/guest_file.h"
#include "guestos/linux/tasks/user_stack_recipe.h"
#include "guestos/linux/types/kernel_reader.h"
#include "guestos/linux/types/linux_types.h"
#include "guestos/linux/types/per_cpu.h"
#include "guestos/process_news.h"
#include "wire/capture.h"
#include "wire/recipe.h"

namespace ringside::guestos {

struct LinuxArch;

// A task as it was at a capture.
struct TaskView {
  GuestVirt task;
  std::uint32_t tid = 0;  // task_struct::pid
  std::uint32_t pid = 0;  // task_struct::tgid
  std::string comm;
  // What tells an address space from every other one that had the same struct mm_struct before, and
  // from itself before it mapped other code: the struct's address, pgd, exec_vm, start_code and
  // start_stack. The first is 0 in a kernel thread.
  std::array<std::uint64_t, 5> space{};
  // The file that execve() was called with, of the address space; nothing where it was not copied.
  std::optional<FileIdentity> program;
  // User code's, as far as they are known; in kernel mode only.
  std::optional<arch::Registers> user;
  // The task's, in kernel mode.
  std::optional<KernelStack> kernel_stack;

  [[nodiscard]] bool is_kernel_thread() const { return space[0] == 0; }
  // execve() has given it a new address space, and is still mapping its program there.
  [[nodiscard]] bool is_in_exec() const { return space[3] == 0; }
};

// A task as it is now, without `user` and `program`. Errors: as KernelReader has them.
[[nodiscard]] Result<TaskView> read_task(const LinuxTypes& types, const KernelReader& read,
                                         GuestVirt task);

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
  [[nodiscard]] Result<bool> find(std::size_t cpu, const PerCpu& per_cpu,
                                  const elf::GuestReader& read);
  // Lets recipes walk the page tables of the task: all its add_to() from now on.
  void adopt(UserTables tables) { user_tables_ = std::move(tables); }
  [[nodiscard]] bool knows_user_tables() const { return user_tables_.has_value(); }
  // Operations that come before those that copy the kernel's stacks.
  void add_to(std::vector<wire::RecipeOp>& recipe, VcpuId vcpu) const;
  // Nothing where it was not copied: user code ran without the kernel in its page tables.
  [[nodiscard]] std::optional<TaskView> read(const wire::Capture& capture) const;
  // Whether the user stack of a capture in kernel mode was found through the task's own page
  // tables, whichever the vCPU used.
  [[nodiscard]] bool has_walked(const wire::Capture& capture) const;
  // Whether the user registers that were copied with a capture are in the kernel's memory still, so
  // that the task has not been in user mode since, or is in the same place again.
  [[nodiscard]] Result<bool> is_still_in_kernel(const wire::Capture& capture,
                                                GuestMemory& memory) const;
  // User code's registers in kernel mode, where nothing of the task could be copied.
  [[nodiscard]] std::optional<arch::Registers> user_registers(const wire::Capture& capture) const {
    return user_registers(capture, {});
  }
  // Where entry code leaves the pc of user code to the vDSO (EntryCode::landing_pad), finds it; the
  // task's `user` is gone where that fails. Errors: those of `memory`.
  [[nodiscard]] Result<void> find_user_pc(TaskView& task, GuestMemory& memory) const;
  // Where a vCPU's variable lies, if there is one and it was found.
  [[nodiscard]] std::optional<GuestVirt> variable_of(VcpuId vcpu) const {
    return vcpu.value < slots_.size() ? slots_[vcpu.value] : std::nullopt;
  }

 private:
  CurrentTask(LinuxTypes types, const LinuxArch& linux_arch, std::unique_ptr<EntryCode> entry_code,
              std::optional<ImageAddr> variable, bool copies_program)
      : types_(types),
        linux_arch_(&linux_arch),
        entry_code_(std::move(entry_code)),
        variable_(variable),
        copies_program_(copies_program) {}
  // Of the operations that leave the task in a slot; they skip `skip` more where there is none.
  [[nodiscard]] std::vector<wire::RecipeOp> find_task(VcpuId vcpu, std::uint32_t skip) const;
  [[nodiscard]] std::optional<arch::Registers> user_registers(
      const wire::Capture& capture, const EntryCode::Copied& copied) const;
  [[nodiscard]] std::optional<GuestVirt> vdso_of(const wire::Capture& capture, GuestVirt mm) const;
  // Of pieces of PieceKind::kSystem.
  [[nodiscard]] bool has_registers(std::span<const wire::MemoryPiece* const> pieces) const;
  // Copies the stack that slot kSp points to, of the task with slot kMm.
  [[nodiscard]] std::vector<wire::RecipeOp> copy_user_stack() const;

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
