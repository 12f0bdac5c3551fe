#include "guestos/linux/linux_adapter.h"

#include <algorithm>
#include <utility>

#include "arch/arch_info.h"
#include "guestos/linux/entry/interrupt_entries.h"
#include "guestos/linux/entry/stack_size.h"
#include "guestos/linux/linux_arch.h"
#include "guestos/linux/modules/module_list.h"
#include "guestos/linux/tasks/linux_process_source.h"
#include "guestos/linux/tasks/return_hooks.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

// At multiples of this the stacks of threads and interrupts end; 0 where they may end anywhere.
// Behind a stack and its guard page device memory may be mapped: QEMU 7.2 dies of a debugger's read
// of arm64's interrupt controller.
std::uint64_t stack_alignment(const elf::ElfFile& kernel) {
  constexpr std::uint64_t kUsual = 16 * 1024;
  if (!find_linux_arch(kernel.arch())->aligns_stacks) return 0;
  return kernel_stack_size(kernel).value_or(kUsual);
}

// By whatever tells where the stacks of interrupts are.
bool is_known(const LearntLink& link, const KernelStacks& stacks) {
  const auto is_slot = [&link](const StackTop& top) {
    return top.slot == link.slot && (!top.returns_to || top.returns_to == link.returns_to);
  };
  const auto is_record = [&](const EndRecord& record) {
    return (link.slot.value + record.below_end) % stacks.alignment == 0 &&
           record.returns_to == link.returns_to;
  };
  const auto& records = stacks.unknown.records;
  return std::any_of(stacks.tops.begin(), stacks.tops.end(), is_slot) ||
         (stacks.alignment != 0 && std::any_of(records.begin(), records.end(), is_record));
}

}  // namespace

LinuxAdapter::LinuxAdapter(const elf::Image& kernel, const AdapterOptions& options)
    : Adapter(kernel.file->arch()),
      kernel_(&kernel),
      linux_arch_(find_linux_arch(kernel.file->arch())),
      debug_files_(options.debug_files),
      per_cpu_(kernel),
      has_unused_options_(options.programs || options.user_program || !options.processes.empty()) {
  auto processes = LinuxProcesses::of(kernel, options);
  if (processes)
    processes_ = std::move(*processes);
  else
    without_processes_ = fmt::format("no sample has a process: {}", processes.error().message);
  const auto names = linux_arch_->irq_stack_variables;
  const bool is_named = std::any_of(names.begin(), names.end(), [&](std::string_view name) {
    return kernel.file->symbol_named(name).has_value();
  });
  if (!is_named && linux_arch_->unknown_irq_stacks != nullptr)
    unknown_irq_stacks_ = linux_arch_->unknown_irq_stacks(kernel);
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
  return find_linux_arch(file.arch()) != nullptr && file.symbol_named("linux_banner").has_value();
}

InterruptCode LinuxAdapter::interrupt_code() const { return linux_interrupt_code(*kernel_); }

std::vector<unwind::TrapFrameLayout> LinuxAdapter::entries() const {
  return linux_arch_->entries(*kernel_);
}

std::vector<unwind::ReturnHook> LinuxAdapter::return_hooks() const {
  return linux_return_hooks(*kernel_, processes_ ? &processes_->types() : nullptr);
}

std::optional<GuestVirt> LinuxAdapter::page_table_root() const {
  // arch/x86/kernel/head_64.S, where swapper_pg_dir is another name for it.
  for (const char* name : {"init_top_pgt", "swapper_pg_dir"})
    if (const auto root = kernel_->file->symbol_named(name))
      return kernel_->to_guest(root->address);
  return std::nullopt;
}

// Fills in `tops` from a per-CPU variable. False if it is not set yet: before a CPU's area is set
// up its entry leads to the boot image's copy, which has no stack.
Result<bool> LinuxAdapter::find_irq_stack(std::size_t cpu, ImageAddr variable,
                                          std::vector<StackTop>& tops,
                                          VirtualMemory& memory) const {
  if (!tops.empty()) return true;
  RINGSIDE_ASSIGN(const auto copy, per_cpu_.copy_of(variable, cpu, memory));
  if (!copy) return false;
  RINGSIDE_ASSIGN(const auto stack, per_cpu_.read_pointer(*copy, memory));
  if (stack) tops = linux_arch_->irq_stack_tops(*kernel_, *stack);
  return stack.has_value();
}

// The variables are set when their CPU comes up, so that early on they may still be 0.
Result<bool> LinuxAdapter::prepare(std::size_t vcpus, VirtualMemory& memory) {
  if (!kernel_->file->symbol_named("__per_cpu_offset")) return true;
  irq_stacks_.resize(vcpus);
  bool all = true;
  const auto names = linux_arch_->irq_stack_variables;
  for (std::size_t cpu = 0; cpu < vcpus; ++cpu) {
    irq_stacks_[cpu].resize(names.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto variable = kernel_->file->symbol_named(names[i]);
      if (!variable) continue;
      RINGSIDE_ASSIGN(const bool found,
                      find_irq_stack(cpu, variable->address, irq_stacks_[cpu][i], memory));
      all = all && found;
    }
    if (all && processes_) {
      RINGSIDE_ASSIGN(const bool found, processes_->find_cpu(cpu, per_cpu_, memory));
      all = all && found;
    }
  }
  return all;
}

Result<std::vector<elf::Image>> LinuxAdapter::loaded_code(VirtualMemory& memory) {
  if (linux_arch_->fixed_code != nullptr && !std::exchange(has_reported_fixed_code_, true))
    if (auto image = linux_arch_->fixed_code(*kernel_->file)) return std::vector{std::move(*image)};
  if (!modules_) {
    const auto in_guest = [this](const std::vector<ImageAddr>& lists) {
      std::vector<GuestVirt> places;
      for (const ImageAddr list : lists) places.push_back(kernel_->to_guest(list));
      return places;
    };
    modules_.emplace(in_guest(find_module_lists(*kernel_->file)), arch_,
                     kernel_->file->section(".orc_header").has_value());
    bpf_.emplace(in_guest(find_bpf_lists(*kernel_->file)), arch_);
  }
  RINGSIDE_ASSIGN(std::vector<elf::Image> images, modules_->poll(memory));
  RINGSIDE_ASSIGN(std::vector<elf::Image> programs, bpf_->poll(memory));
  std::move(programs.begin(), programs.end(), std::back_inserter(images));
  return images;
}

Result<TaskAttribution> LinuxAdapter::attribute(const wire::Capture& capture, GuestMemory& memory,
                                                ProcessUpdates& updates) {
  return processes_ ? processes_->attribute(capture, memory, updates) : TaskAttribution();
}

Result<std::unique_ptr<ProcessSource>> LinuxAdapter::process_source() const {
  return LinuxProcessSource::of(*kernel_, debug_files_);
}

std::vector<wire::RecipeOp> LinuxAdapter::recipe(VcpuId vcpu, const Learnt& learnt) const {
  KernelStacks stacks{.size = linux_arch_->irq_stack_size,
                      .alignment = stack_alignment(*kernel_->file),
                      .unknown = unknown_irq_stacks_};
  std::vector<StackTop>& tops = stacks.tops;
  if (vcpu.value < irq_stacks_.size())
    for (const auto& of_stack : irq_stacks_[vcpu.value])
      tops.insert(tops.end(), of_stack.begin(), of_stack.end());
  std::vector<StackTop> learnt_tops;
  for (const LearntLink& link : learnt.links)
    if (!link.leads_to_user && !is_known(link, stacks))
      learnt_tops.push_back({.slot = link.slot, .returns_to = link.returns_to});
  tops.insert(tops.end(), learnt_tops.begin(), learnt_tops.end());
  wire::RecipeBuilder recipe;
  if (processes_) {
    processes_->copy_task(recipe, vcpu, learnt.hooked_returns);
    recipe.next_recipe();
  }
  copy_stacks(recipe, arch_, stacks);
  if (linux_arch_->copy_stacks_of_entry_code != nullptr)
    linux_arch_->copy_stacks_of_entry_code(recipe, *kernel_, stacks.alignment);
  return recipe.take();
}

}  // namespace ringside::guestos
