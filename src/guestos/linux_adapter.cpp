#include "guestos/linux_adapter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

#include "guestos/linux/aarch64_entries.h"
#include "guestos/linux/aarch64_irq_stack.h"
#include "guestos/linux/aarch64_trampoline.h"
#include "guestos/linux/i386_entries.h"
#include "guestos/linux/riscv64_entries.h"
#include "guestos/linux/x86_64_entries.h"
#include "guestos/stack_recipe.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kPerCpuLimit = 1 << 24;  // per-CPU symbols are offsets from 0, below this

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
// of arm64's interrupt controller. The size is that of the first task's stack
// (asm-generic/vmlinux.lds.h).
std::uint64_t stack_alignment(const elf::ElfFile& kernel) {
  constexpr std::uint64_t kUsual = 16 * 1024;
  if (kernel.arch() != Arch::kAArch64 && kernel.arch() != Arch::kRiscv64) return 0;
  for (const char* name : {"init_task", "init_stack"}) {
    const auto start = kernel.symbol_named(std::string("__start_") + name);
    const auto end = kernel.symbol_named(std::string("__end_") + name);
    if (start && end && std::has_single_bit(end->address - start->address))
      return end->address - start->address;
  }
  return kUsual;
}

}  // namespace

bool LinuxAdapter::recognises(const elf::ElfFile& file) {
  return unwind::find_platform(file.arch()) != nullptr &&
         file.symbol_named("linux_banner").has_value();
}

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

Result<std::optional<GuestVirt>> LinuxAdapter::read_pointer(GuestVirt at,
                                                            const elf::GuestReader& read) const {
  const std::size_t size = wire::roles_of(arch_).pointer_size;
  std::uint64_t value = 0;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(size);
  RINGSIDE_ASSIGN(const std::size_t count, read(at, bytes));
  if (count < size || value == 0) return std::nullopt;
  return GuestVirt{value};
}

// On x86_64 the address of a per-CPU variable is its distance from the start of a CPU's area, whose
// address is the CPU's __per_cpu_offset; on i386 it lies in the boot image's copy, and
// __per_cpu_offset is the distance from there.
Result<bool> LinuxAdapter::find_irq_stack(std::size_t cpu, ImageAddr variable, ImageAddr offsets,
                                          std::optional<GuestVirt>& stack,
                                          const elf::GuestReader& read) const {
  if (stack) return true;
  const wire::RegisterRoles roles = wire::roles_of(arch_);
  const bool linked_at_zero = variable.value <= kPerCpuLimit;
  RINGSIDE_ASSIGN(const auto area,
                  read_pointer(kernel_->to_guest(offsets) + roles.pointer_size * cpu, read));
  // Before a CPU's area is set up its entry leads to the boot image's copy, which has no stack yet.
  if (!area) return false;
  const std::uint64_t base = linked_at_zero ? variable.value : kernel_->to_guest(variable).value;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * roles.pointer_size);
  RINGSIDE_ASSIGN(stack, read_pointer({(area->value + base) & mask}, read));
  return stack.has_value();
}

// The variables are set when their CPU comes up, so that early on they may still be 0.
Result<bool> LinuxAdapter::prepare(std::size_t vcpus, const elf::GuestReader& read) {
  const auto offsets = kernel_->file->symbol_named("__per_cpu_offset");
  if (!offsets) return true;
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
      RINGSIDE_ASSIGN(const bool found, find_irq_stack(cpu, variable->address, offsets->address,
                                                       irq_stacks_[cpu][i], read));
      all = all && found;
    }
  }
  return all;
}

Result<std::vector<elf::Image>> LinuxAdapter::loaded_code(const elf::GuestReader& read) {
  if (arch_ == Arch::kAArch64 && !std::exchange(has_told_of_trampoline_, true))
    if (auto image = trampoline_image(*kernel_->file)) return std::vector{std::move(*image)};
  if (!modules_) {
    const auto list = kernel_->file->symbol_named("modules");
    if (!list) return std::vector<elf::Image>();
    modules_.emplace(kernel_->to_guest(list->address), arch_,
                     kernel_->file->section(".orc_header").has_value());
  }
  return modules_->look(read);
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
    if (std::none_of(tops.begin(), tops.begin() + static_cast<std::ptrdiff_t>(known),
                     [&link](const StackTop& top) {
                       return top.slot == link.slot &&
                              (!top.returns_to || top.returns_to == link.returns_to);
                     }))
      tops.push_back({.slot = link.slot, .returns_to = link.returns_to});
  const std::uint64_t alignment = stack_alignment(*kernel_->file);
  auto ops = stack_recipe(arch_, tops, irq_stack_size(arch_), alignment);
  if (arch_ == Arch::kI386) add_frame_in_transit(ops);
  if (arch_ == Arch::kRiscv64)
    if (const auto offset = riscv64_saved_sp(*kernel_)) add_saved_stack(ops, *offset, alignment);
  return ops;
}

}  // namespace ringside::guestos
