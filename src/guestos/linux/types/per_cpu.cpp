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

Result<std::optional<GuestVirt>> PerCpu::read_pointer(GuestVirt at,
                                                      const elf::GuestReader& read) const {
  const std::size_t size = arch::roles_of(kernel_->file->arch()).pointer_size;
  std::uint64_t value = 0;
  const auto bytes = std::as_writable_bytes(std::span(&value, 1)).first(size);
  RINGSIDE_ASSIGN(const std::size_t count, read(at, bytes));
  if (count < size || value == 0) return std::nullopt;
  return GuestVirt{value};
}

// On x86_64 the address of a per-CPU variable is its distance from the start of a CPU's area, whose
// address is the CPU's __per_cpu_offset; elsewhere it lies in the boot image's copy, and
// __per_cpu_offset is the distance from there. A kernel for one processor has no offsets.
Result<std::optional<GuestVirt>> PerCpu::copy_of(ImageAddr variable, std::size_t cpu,
                                                 const elf::GuestReader& read) const {
  if (!offsets_) return cpu == 0 ? std::optional(kernel_->to_guest(variable)) : std::nullopt;
  const std::uint64_t pointer_size = arch::roles_of(kernel_->file->arch()).pointer_size;
  RINGSIDE_ASSIGN(const auto area,
                  read_pointer(kernel_->to_guest(offsets_->address) + pointer_size * cpu, read));
  if (!area) return std::nullopt;
  const bool linked_at_zero = variable.value <= kPerCpuLimit;
  const std::uint64_t base = linked_at_zero ? variable.value : kernel_->to_guest(variable).value;
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - 8 * pointer_size);
  return GuestVirt{(area->value + base) & mask};
}

}  // namespace ringside::guestos
