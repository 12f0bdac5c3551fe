#include "guestos/linux_adapter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "arch/arch_info.h"
#include "guestos/linux/aarch64_entries.h"
#include "guestos/linux/aarch64_irq_stack.h"
#include "guestos/linux/aarch64_trampoline.h"
#include "guestos/linux/i386_entries.h"
#include "guestos/linux/interrupt_entries.h"
#include "guestos/linux/module_list.h"
#include "guestos/linux/riscv64_entries.h"
#include "guestos/linux/stack_size.h"
#include "guestos/linux/x86_64_entries.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

// IRQ_STACK_SIZE of arch/x86/include/asm/page_64_types.h and arch/{arm64,riscv}/include/asm;
// THREAD_SIZE of arch/x86/include/asm/page_32_types.h.
std::uint64_t irq_stack_size(Arch arch) { return arch == Arch::kI386 ? 8 * 1024 : 16 * 1024; }

// Per-CPU variables that point to a stack, the innermost first. On i386, where a hard interrupt may
// come on the stack of soft ones, it is the stack's lowest address.
std::vector<std::string_view> irq_stack_variables(Arch arch) {
  switch (arch) {
    case Arch::kI386:
      return {"hardirq_stack_ptr", "softirq_stack_ptr"};
    case Arch::kX86_64:
      return {"hardirq_stack_ptr"};
    case Arch::kAArch64:
    case Arch::kRiscv64:
      return {"irq_stack_ptr"};
    default:
      return {};
  }
}

// On riscv64 too the variable holds the lowest address. call_on_irq_stack calls a function with the
// stack pointer at the other end (arch/riscv/kernel/entry.S, 6.7 and later), which saves the frame
// pointer two words below. On aarch64 the place depends on the function: IrqStackRecord, or it is
// learnt.
StackTop irq_stack_top(Arch arch, GuestVirt variable) {
  switch (arch) {
    case Arch::kI386:
      return {.slot = variable, .kind = StackTop::Kind::kBottom};
    case Arch::kRiscv64:
      return {.slot = variable + irq_stack_size(arch) - 16, .kind = StackTop::Kind::kRecord};
    case Arch::kAArch64:
      return {.slot = variable + irq_stack_size(arch), .kind = StackTop::Kind::kEmpty};
    default:
      return {.slot = variable, .kind = StackTop::Kind::kPopped};
  }
}

// At multiples of this the stacks of threads and interrupts end; 0 where they may end anywhere.
// arm64 and riscv64 align them to twice their size (THREAD_ALIGN in asm/memory.h, asm/thread_info.h
// of 6.1); x86_64's interrupt stacks are aligned to pages only (map_irq_stack() in irq_64.c).
// Behind a stack and its guard page device memory may be mapped: QEMU 7.2 dies of a debugger's read
// of arm64's interrupt controller.
std::uint64_t stack_alignment(const elf::ElfFile& kernel) {
  constexpr std::uint64_t kUsual = 16 * 1024;
  if (kernel.arch() != Arch::kAArch64 && kernel.arch() != Arch::kRiscv64) return 0;
  return kernel_stack_size(kernel).value_or(kUsual);
}

}  // namespace

LinuxAdapter::LinuxAdapter(const elf::Image& kernel, const AdapterOptions& options)
    : Adapter(kernel.file->arch()),
      kernel_(&kernel),
      per_cpu_(kernel),
      has_unused_options_(options.programs || options.user_program || !options.processes.empty()) {
  auto processes = LinuxProcesses::of(kernel, options);
  if (processes)
    processes_ = std::move(*processes);
  else
    without_processes_ = fmt::format("no sample has a process: {}", processes.error().message);
}

std::vector<std::string> LinuxAdapter::caveats() const {
  std::vector<std::string> caveats;
  std::string caveat = processes_ ? processes_->caveat() : without_processes_;
  if (!caveat.empty()) caveats.push_back(std::move(caveat));
  if (has_unused_options_)
    caveats.emplace_back(
        "--programs, --user-elf and --process have no effect with a Linux guest: its programs are "
        "read from its memory; give its files with --sysroot DIR");
  return caveats;
}

bool LinuxAdapter::recognises(const elf::ElfFile& file) {
  return arch::find_info(file.arch()) != nullptr && file.symbol_named("linux_banner").has_value();
}

InterruptCode LinuxAdapter::interrupt_code() const { return linux_interrupt_code(*kernel_); }

std::vector<unwind::EntryLayout> LinuxAdapter::entries() const {
  switch (arch_) {
    case Arch::kI386:
      return i386_entries(*kernel_);
    case Arch::kAArch64:
      return aarch64_entries(*kernel_);
    case Arch::kRiscv64:
      return riscv64_entries(*kernel_);
    default:
      return x86_64_entries(*kernel_);
  }
}

std::optional<GuestVirt> LinuxAdapter::page_table_root() const {
  // arch/x86/kernel/head_64.S, where swapper_pg_dir is another name for it.
  for (const char* name : {"init_top_pgt", "swapper_pg_dir"})
    if (const auto root = kernel_->file->symbol_named(name))
      return kernel_->to_guest(root->address);
  return std::nullopt;
}

// Fills in `stack` from a per-CPU variable. False if it is not set yet: before a CPU's area is set
// up its entry leads to the boot image's copy, which has no stack.
Result<bool> LinuxAdapter::find_irq_stack(std::size_t cpu, ImageAddr variable,
                                          std::optional<GuestVirt>& stack,
                                          const elf::GuestReader& read) const {
  if (stack) return true;
  RINGSIDE_ASSIGN(const auto copy, per_cpu_.copy_of(variable, cpu, read));
  if (!copy) return false;
  RINGSIDE_ASSIGN(stack, per_cpu_.read_pointer(*copy, read));
  return stack.has_value();
}

// The variables are set when their CPU comes up, so that early on they may still be 0.
Result<bool> LinuxAdapter::prepare(std::size_t vcpus, const elf::GuestReader& read) {
  if (!kernel_->file->symbol_named("__per_cpu_offset")) return true;
  irq_stacks_.resize(vcpus);
  if (arch_ == Arch::kAArch64 && !irq_stack_records_)
    irq_stack_records_ = aarch64_irq_stack_records(*kernel_);
  bool all = true;
  const auto names = irq_stack_variables(arch_);
  for (std::size_t cpu = 0; cpu < vcpus; ++cpu) {
    irq_stacks_[cpu].resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto variable = kernel_->file->symbol_named(names[i]);
      if (!variable) continue;
      RINGSIDE_ASSIGN(const bool found,
                      find_irq_stack(cpu, variable->address, irq_stacks_[cpu][i], read));
      all = all && found;
    }
    if (all && processes_) {
      RINGSIDE_ASSIGN(const bool found, processes_->find_cpu(cpu, per_cpu_, read));
      all = all && found;
    }
  }
  return all;
}

Result<std::vector<elf::Image>> LinuxAdapter::loaded_code(const elf::GuestReader& read) {
  if (arch_ == Arch::kAArch64 && !std::exchange(has_told_of_trampoline_, true))
    if (auto image = trampoline_image(*kernel_->file)) return std::vector{std::move(*image)};
  if (!modules_) {
    std::vector<GuestVirt> lists;
    for (const ImageAddr list : find_module_lists(*kernel_->file))
      lists.push_back(kernel_->to_guest(list));
    modules_.emplace(std::move(lists), arch_, kernel_->file->section(".orc_header").has_value());
  }
  return modules_->look(read);
}

Result<Owner> LinuxAdapter::owner_of(const wire::Capture& capture, GuestMemory& memory,
                                     ProcessNews& news) {
  return processes_ ? processes_->owner_of(capture, memory, news) : Owner();
}

std::vector<wire::RecipeOp> LinuxAdapter::recipe(VcpuId vcpu,
                                                 std::span<const LearntLink> learnt) const {
  std::vector<StackTop> tops;
  if (vcpu.value < irq_stacks_.size())
    for (const auto& stack : irq_stacks_[vcpu.value]) {
      if (!stack) continue;
      tops.push_back(irq_stack_top(arch_, *stack));
      // Before the function that call_on_irq_stack calls has saved it, and after it has restored
      // it.
      if (arch_ == Arch::kRiscv64)
        tops.push_back({.slot = *stack + irq_stack_size(arch_), .kind = StackTop::Kind::kEmpty});
      for (const IrqStackRecord& record :
           irq_stack_records_.value_or(std::vector<IrqStackRecord>{}))
        tops.push_back({.slot = *stack + irq_stack_size(arch_) - record.below_end,
                        .returns_to = record.returns_to});
    }
  const std::size_t known = tops.size();
  for (const LearntLink& link : learnt)
    if (!link.leads_to_user &&
        std::none_of(tops.begin(), tops.begin() + static_cast<std::ptrdiff_t>(known),
                     [&link](const StackTop& top) {
                       return top.slot == link.slot &&
                              (!top.returns_to || top.returns_to == link.returns_to);
                     }))
      tops.push_back({.slot = link.slot, .returns_to = link.returns_to});
  const std::uint64_t alignment = stack_alignment(*kernel_->file);
  std::vector<wire::RecipeOp> ops;
  if (processes_) processes_->add_to(ops, vcpu);
  const auto stacks = stack_recipe(arch_, tops, irq_stack_size(arch_), alignment);
  ops.insert(ops.end(), stacks.begin(), stacks.end());
  if (arch_ == Arch::kI386) add_frame_in_transit(ops);
  if (arch_ == Arch::kAArch64)
    if (const auto test = aarch64_overflow_test(*kernel_)) add_tested_stack(ops, *test, alignment);
  if (arch_ == Arch::kRiscv64)
    if (const auto offset = riscv64_saved_sp(*kernel_)) add_saved_stack(ops, *offset, alignment);
  return ops;
}

}  // namespace ringside::guestos
