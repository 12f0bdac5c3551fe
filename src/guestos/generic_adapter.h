#pragma once

#include "guestos/adapter.h"
#include "guestos/adapter_options.h"
#include "guestos/root_processes.h"
#include "guestos/user_interrupts/kernel_entries.h"

namespace ringside::guestos {

// Any kernel: copies the current stack, and the stacks that unwinding has found links to. Processes
// are identified by the root of their page tables (RootProcesses).
class GenericAdapter : public Adapter {
 public:
  explicit GenericAdapter(Arch arch, const AdapterOptions& options = {});

  [[nodiscard]] std::string_view name() const override { return "generic"; }
  [[nodiscard]] std::vector<unwind::TrapFrameLayout> entries() const override { return {}; }
  [[nodiscard]] Result<bool> prepare(std::size_t, VirtualMemory&) override { return true; }
  // Null where the kernel's entries are not determined, or are those that were reported last. The
  // kernel is the same each time.
  [[nodiscard]] Result<std::shared_ptr<const UserInterrupts>> user_interrupts(
      const elf::Image& kernel, VirtualMemory& memory,
      const std::function<Result<arch::Registers>()>& registers) override;
  [[nodiscard]] bool adopt(Arch arch) override;
  // A root belongs to a process if user code has run there, or the user has named its program.
  [[nodiscard]] Result<TaskAttribution> attribute(const wire::Capture& capture, GuestMemory& memory,
                                                  ProcessUpdates& updates) override;
  [[nodiscard]] std::vector<wire::RecipeOp> recipe(VcpuId vcpu,
                                                   const Learnt& learnt) const override;
  [[nodiscard]] std::vector<std::string> caveats() const override { return processes_.caveats(); }
  void count_unnamed_processes() override { processes_.count_unnamed(); }
  void take_over(Adapter& before) override;

 protected:
  [[nodiscard]] std::uint64_t next_address_space() { return ids_->next(); }
  // User code can be unwound: its stack is to be copied.
  [[nodiscard]] virtual bool knows_programs() const { return processes_.may_know_programs(); }

 private:
  std::shared_ptr<AddressSpaceIds> ids_;
  RootProcesses processes_;
  KernelEntryFinder entry_finder_;
  std::vector<KernelEntry> kernel_entries_;  // that were reported
};

}  // namespace ringside::guestos
