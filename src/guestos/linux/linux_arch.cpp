#include "guestos/linux/linux_arch.h"

namespace ringside::guestos {

const LinuxArch* find_linux_arch(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return &kLinuxX86_64;
    case Arch::kI386:
      return &kLinuxI386;
    case Arch::kAArch64:
      return &kLinuxAArch64;
    case Arch::kRiscv64:
      return &kLinuxRiscv64;
    case Arch::kUnknown:
      break;
  }
  return nullptr;
}

std::optional<ImageAddr> member_of_variable(const elf::ElfFile& kernel, const TypeSource& types,
                                            const char* symbol, const char* type,
                                            const char* member) {
  const auto variable = kernel.symbol_named(symbol);
  const auto field = types.member(type, member);
  if (!variable || !field) return std::nullopt;
  return variable->address + field->offset;
}

}  // namespace ringside::guestos
