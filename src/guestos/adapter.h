#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_reader.h"
#include "base/result.h"
#include "base/types.h"
#include "elf/image_map.h"
#include "guestos/adapter_options.h"
#include "guestos/guest_memory.h"
#include "guestos/interrupt_code.h"
#include "guestos/process_source.h"
#include "guestos/process_updates.h"
#include "guestos/stack_recipe.h"
#include "guestos/user_interrupts/user_interrupts.h"
#include "unwind/return_hook.h"
#include "unwind/trap_frame_layout.h"
#include "wire/recipe.h"

namespace ringside::guestos {

// The part that depends on the guest's operating system: where its stacks are, and what its entry
// code leaves on them. Knows nothing of engines.
class Adapter {
 public:
  explicit Adapter(Arch arch) : arch_(arch) {}
  virtual ~Adapter() = default;
  // Whose register numbers its recipes use.
  [[nodiscard]] Arch arch() const { return arch_; }
  // Reports that the guest's kernel is of another architecture than was thought, as a 32-bit system
  // on an x86_64 machine. True if the recipes have changed.
  [[nodiscard]] virtual bool adopt(Arch) { return false; }
  [[nodiscard]] virtual std::string_view name() const = 0;
  // Tables for the unwinder; they do not change.
  [[nodiscard]] virtual std::vector<unwind::TrapFrameLayout> entries() const = 0;
  // Hooks of the kernel's tracers; they do not change.
  [[nodiscard]] virtual std::vector<unwind::ReturnHook> return_hooks() const { return {}; }
  // Which code runs in interrupts; nothing is known of it where the kernel's names say nothing.
  [[nodiscard]] virtual InterruptCode interrupt_code() const { return {}; }
  // By which of the kernel's entries interrupts of user code are distinguished: null where nothing
  // is determined that the last call did not report. For a kernel whose names say nothing. `kernel`
  // is its image, `registers` reads a vCPU's, if it can. Errors: those of `memory`.
  [[nodiscard]] virtual Result<std::shared_ptr<const UserInterrupts>> user_interrupts(
      const elf::Image& /*kernel*/, VirtualMemory& /*memory*/,
      const std::function<Result<arch::Registers>()>& /*registers*/) {
    return nullptr;
  }
  // Reads what only the guest's memory says, as soon as the kernel runs. True when nothing is
  // missing any more; false to be asked again later. Errors: those of `memory`.
  [[nodiscard]] virtual Result<bool> prepare(std::size_t vcpus, VirtualMemory& memory) = 0;
  // Code that the kernel has loaded since the last call (at the first: so far), such as Linux's
  // modules, as images made of the guest's memory. Little is read while there is nothing new. The
  // guest may run meanwhile; what cannot be read now comes with a later call. Errors: those of
  // `memory`.
  [[nodiscard]] virtual Result<std::vector<elf::Image>> loaded_code(VirtualMemory&) {
    return std::vector<elf::Image>();
  }
  // All code of kernel mode is in the kernel's file or in loaded_code(), wherever it is mapped.
  [[nodiscard]] virtual bool reports_all_code() const { return false; }
  // Limitations of its reports for this kernel, their causes and remedies: a sentence each.
  [[nodiscard]] virtual std::vector<std::string> caveats() const { return {}; }
  // No kernel will be found that shows more of processes than their page tables do.
  virtual void count_unnamed_processes() {}
  // Follows another one, which has reported processes before.
  virtual void take_over(Adapter& /*before*/) {}
  // The address of the kernel's own top-level page table, which outlives all processes.
  [[nodiscard]] virtual std::optional<GuestVirt> page_table_root() const { return std::nullopt; }
  // Whose time a capture is: of a tick's captures in order, right after they have been taken. Data
  // that the attribution to a process requires is read once and added to `updates`. Errors: those
  // of `memory`.
  [[nodiscard]] virtual Result<TaskAttribution> attribute(const wire::Capture& /*capture*/,
                                                          GuestMemory& /*memory*/,
                                                          ProcessUpdates& /*updates*/) {
    return TaskAttribution();
  }
  // Lists the processes of the guest, whose kernel must outlive it. Error kUnsupported where the
  // system does not say how it keeps them, kNotFound where its kernel does not.
  [[nodiscard]] virtual Result<std::unique_ptr<ProcessSource>> process_source() const;
  // The recipe for the memory to copy from a vCPU.
  [[nodiscard]] virtual std::vector<wire::RecipeOp> recipe(VcpuId vcpu,
                                                           const Learnt& learnt) const = 0;

 protected:
  Arch arch_;
};

// The name of the system that a kernel file holds. Error kMismatch if another was asked for.
[[nodiscard]] Result<std::string_view> system_of(const AdapterOptions& options,
                                                 const elf::ElfFile& kernel);

// The adapter for a kernel, which must outlive it. Where it is to be found out, and the kernel is
// not Linux, its processes may turn out to be like Emerald's. Errors: those of system_of().
[[nodiscard]] Result<std::unique_ptr<Adapter>> make_adapter(const AdapterOptions& options,
                                                            const elf::Image& kernel);
// Where no more is known of the guest than the architecture of its machine, or of its kernel.
[[nodiscard]] std::unique_ptr<Adapter> make_adapter(const AdapterOptions& options, Arch arch);

}  // namespace ringside::guestos
