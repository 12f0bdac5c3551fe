#include "guestos/linux/types/per_cpu.h"

#include <span>

#include "arch/arch_info.h"
#include "arch/registers.h"

namespace ringside::guestos {
namespace {

constexpr std::uint64_t kPerCpuLimit = 1 << 24;  // per-CPU symbols are offsets from 0, below this

}  // namespace

PerCpu::PerCpu(const elf::Image& kernel)
    : kernel_(&kernel), offsets_(kernel.file->symbol_named("__per_cpu_offset")) {}

Result<std::optional<GuestVirt>> PerCpu::read_pointer(GuestVirt at, VirtualMemory& memory) const {
  const std::size_t size = arch::roles_of(kernel_->file->arch()).pointer_size;
  RINGSIDE_ASSIGN(const auto value, memory.read_word(at, size));
  return value.value_or(0) != 0 ? std::optional(GuestVirt{*value}) : std::nullopt;
}

// On x86_64 the address of a per-CPU variable is its distance from the start of a CPU's area, whose
// address is the CPU's __per_cpu_offset; elsewhere it lies in the boot image's copy, and
// __per_cpu_offset is the distance from there. A kernel for one processor has no offsets.
Result<std::optional<GuestVirt>> PerCpu::copy_of(ImageAddr variable, std::size_t cpu,
                                                 VirtualMemory& memory) const {
  if (!offsets_) return cpu == 0 ? std::optional(kernel_->to_guest(variable)) : std::nullopt;
  const std::uint64_t pointer_size = arch::roles_of(kernel_->file->arch()).pointer_size;
  RINGSIDE_ASSIGN(const auto area,
                  read_pointer(kernel_->to_guest(offsets_->address) + pointer_size * cpu, memory));
  if (!area) return std::nullopt;
  const bool linked_at_zero = variable.value <= kPerCpuLimit;
  const std::uint64_t base = linked_at_zero ? variable.value : kernel_->to_guest(variable).value;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * pointer_size);
  return GuestVirt{(area->value + base) & mask};
}

}  // namespace ringside::guestos
