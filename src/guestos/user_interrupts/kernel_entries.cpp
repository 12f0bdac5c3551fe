#include "guestos/user_interrupts/kernel_entries.h"

#include "arch/arch_info.h"
#include "guestos/user_interrupts/exception_vectors.h"
#include "guestos/user_interrupts/trap_vector.h"

namespace ringside::guestos {
namespace {

using Registers = std::function<Result<arch::Registers>()>;

// A vCPU that is idle may not give its registers, and a file of samples has none: a later call may.
std::vector<KernelEntry> find_by_register(const elf::Image& kernel, const Registers& registers) {
  const auto now = registers();
  if (!now) return {};
  if (kernel.file->arch() == Arch::kRiscv64)
    return now->has(arch::riscv64::kStvec)
               ? entries_of_trap_vector(kernel, now->get(arch::riscv64::kStvec))
               : std::vector<KernelEntry>();
  return now->has(arch::aarch64::kVbarEl1)
             ? entries_of_vectors(kernel, {now->get(arch::aarch64::kVbarEl1)})
             : std::vector<KernelEntry>();
}

}  // namespace

Result<std::vector<KernelEntry>> KernelEntryFinder::find(const elf::Image& kernel,
                                                         VirtualMemory& memory,
                                                         const Registers& registers) {
  if (kernel.file->symbols().empty()) return std::vector<KernelEntry>();
  if (!arch::info_of(kernel.file->arch()).is_x86) return find_by_register(kernel, registers);
  if (!idts_) idts_ = objects_named_idt(*kernel.file);
  return entries_of_idt(kernel, *idts_, memory);
}

}  // namespace ringside::guestos
