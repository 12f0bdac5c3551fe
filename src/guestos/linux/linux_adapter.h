#pragma once

#include <optional>

#include "guestos/adapter.h"
#include "guestos/linux/modules/bpf_code.h"
#include "guestos/linux/modules/linux_modules.h"
#include "guestos/linux/tasks/processes.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {

struct LinuxArch;

// Linux on x86_64, i386, aarch64 and riscv64, from its vmlinux with symbols: the entry code's
// struct pt_regs, and the per-CPU stacks for hard and soft interrupts.
//
// Interrupts are hard here because call_on_irqstack() (arch/x86/include/asm/irq_stack.h, 5.12 and
// later) switches stacks in inline assembly that call-frame information does not describe:
//     movq %rsp, (%tos);  movq %tos, %rsp;  call f;  popq %rsp
// where tos is the per-CPU variable hardirq_stack_ptr. A walk whose stack pointer arrives at tos
// goes on at the value stored there.
//
// i386 has a stack for hard and one for soft interrupts (arch/x86/kernel/irq_32.c). Frames are
// found by their frame pointers over the switch; the stack pointer that was left is stored in the
// lowest word of the new stack. So are frames on aarch64 and riscv64, where the stack that was left
// is found through the frame record of the first function on the new one.
class LinuxAdapter final : public Adapter {
 public:
  [[nodiscard]] static bool recognises(const elf::ElfFile& file);
  // `kernel` must outlive it.
  LinuxAdapter(const elf::Image& kernel, const AdapterOptions& options);

  [[nodiscard]] std::string_view name() const override { return "linux"; }
  [[nodiscard]] std::vector<unwind::TrapFrameLayout> entries() const override;
  [[nodiscard]] std::vector<unwind::ReturnHook> return_hooks() const override;
  [[nodiscard]] InterruptCode interrupt_code() const override;
  [[nodiscard]] Result<bool> prepare(std::size_t vcpus, VirtualMemory& memory) override;
  [[nodiscard]] Result<std::vector<elf::Image>> loaded_code(VirtualMemory& memory) override;
  [[nodiscard]] bool reports_all_code() const override { return true; }
  [[nodiscard]] std::vector<std::string> caveats() const override;
  [[nodiscard]] std::optional<GuestVirt> page_table_root() const override;
  [[nodiscard]] Result<TaskAttribution> attribute(const wire::Capture& capture, GuestMemory& memory,
                                                  ProcessUpdates& updates) override;
  [[nodiscard]] Result<std::unique_ptr<ProcessSource>> process_source() const override;
  [[nodiscard]] std::vector<wire::RecipeOp> recipe(VcpuId vcpu,
                                                   const Learnt& learnt) const override;

 private:
  [[nodiscard]] Result<bool> find_irq_stack(std::size_t cpu, ImageAddr variable,
                                            std::vector<StackTop>& tops,
                                            VirtualMemory& memory) const;

  const elf::Image* kernel_;
  const LinuxArch* linux_arch_;
  symbols::DebugFileOptions debug_files_;
  PerCpu per_cpu_;
  std::optional<LinuxProcesses> processes_;  // nothing where the kernel's types are not known
  std::string without_processes_;            // why there are none
  bool has_unused_options_;                  // that name programs
  std::optional<LinuxModules> modules_;
  std::optional<BpfCode> bpf_;
  bool has_reported_fixed_code_ = false;
  std::vector<std::vector<std::vector<StackTop>>> irq_stacks_;  // by vCPU and variable
  UnknownStacks unknown_irq_stacks_;                            // without such variables
};

}  // namespace ringside::guestos
