#include "guestos/linux/entry/user_registers.h"

#include "guestos/linux/linux_arch.h"

namespace ringside::guestos {
UserRegisters find_user_registers(const elf::ElfFile& kernel, FieldFinder& find) {
  UserRegisters registers;
  registers.size = find.need_size("pt_regs");
  const LinuxArch* const linux_arch = find_linux_arch(kernel.arch());
  if (linux_arch == nullptr) return registers;
  const auto save = [&registers](std::uint8_t reg, std::uint32_t offset) {
    registers.frame.save(reg, static_cast<std::int16_t>(offset));
  };
  if (linux_arch->x_registers > 0) {
    const Field general = find.need("pt_regs", {"regs"});
    for (std::uint8_t reg = 0; reg < linux_arch->x_registers; ++reg)
      save(reg, general.offset + 8u * reg);
  }
  for (const auto& [reg, name] : linux_arch->pt_regs)
    save(reg, find.need("pt_regs", {name}).offset);
  const std::uint64_t alignment = linux_arch->pt_regs_alignment;
  registers.below_stack_end = (registers.size + alignment - 1) / alignment * alignment;
  if (linux_arch->stack_padding != nullptr)
    registers.below_stack_end += linux_arch->stack_padding(kernel, find);
  return registers;
}

}  // namespace ringside::guestos
