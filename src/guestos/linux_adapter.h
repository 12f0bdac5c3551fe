#pragma once

#include <optional>

#include "guestos/adapter.h"

namespace ringside::guestos {

// Linux on x86_64, from its vmlinux with symbols: the entry code's struct pt_regs, and the per-CPU
// stack for hard and soft interrupts.
//
// Interrupts are hard here because call_on_irqstack() (arch/x86/include/asm/irq_stack.h, 5.12 and
// later) switches stacks in inline assembly that call-frame information does not describe:
//     movq %rsp, (%tos);  movq %tos, %rsp;  call f;  popq %rsp
// where tos is the per-CPU variable hardirq_stack_ptr. A walk whose stack pointer arrives at tos
// goes on at the value stored there.
class LinuxAdapter final : public Adapter {
 public:
  [[nodiscard]] static bool recognises(const elf::ElfFile& file);
  explicit LinuxAdapter(const elf::Image& kernel)
      : Adapter(kernel.file->arch()), kernel_(&kernel) {}

  [[nodiscard]] std::string_view name() const override { return "linux"; }
  [[nodiscard]] std::vector<unwind::EntryLayout> entries() const override;
  [[nodiscard]] Result<bool> prepare(std::size_t vcpus, const elf::GuestReader& read) override;
  [[nodiscard]] std::vector<wire::RecipeOp> recipe(
      VcpuId vcpu, std::span<const GuestVirt> learnt) const override;

 private:
  [[nodiscard]] Result<std::optional<GuestVirt>> read_pointer(GuestVirt at,
                                                              const elf::GuestReader& read) const;

  const elf::Image* kernel_;
  std::vector<std::optional<GuestVirt>> irq_stack_tops_;  // by vCPU
};

}  // namespace ringside::guestos
