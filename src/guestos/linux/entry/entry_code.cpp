#include "guestos/linux/entry/entry_code.h"

#include "arch/arch_info.h"
#include "guestos/linux/linux_arch.h"

namespace ringside::guestos {
arch::Registers with_saved(arch::Registers registers, const wire::Capture& capture,
                           const unwind::RegisterFrame& pt_regs, GuestVirt frame, GuestVirt from) {
  const bool is_wide = arch::roles_of(capture.arch).pointer_size == 8;
  for (std::size_t reg = 0; reg < arch::kRegisterCount; ++reg) {
    if (!pt_regs.saves(reg)) continue;
    const GuestVirt slot = frame + static_cast<std::uint64_t>(pt_regs.offsets[reg]);
    if (slot < from) continue;
    const auto value = is_wide ? capture.read<std::uint64_t>(slot)
                               : std::optional<std::uint64_t>(capture.read<std::uint32_t>(slot));
    if (value)
      registers.set(reg, *value);
    else
      registers.forget(reg);
  }
  return registers;
}

std::unique_ptr<EntryCode> EntryCode::of(const elf::Image& kernel, const UserRegisters& pt_regs,
                                         const TypeSource& types) {
  const LinuxArch* const linux_arch = find_linux_arch(kernel.file->arch());
  return linux_arch == nullptr ? nullptr : linux_arch->entry_code(kernel, pt_regs, types);
}

}  // namespace ringside::guestos
