#include "guestos/user_root.h"

namespace ringside::guestos {

RootField root_field(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return {wire::x86_64::kCr3, 0x000f'ffff'ffff'f000};
    case Arch::kI386:
      return {wire::i386::kCr3, 0xffff'ffe0};  // the tables of physical address extension: 32 bytes
    case Arch::kAArch64:
      return {wire::aarch64::kTtbr0El1, 0x0000'ffff'ffff'fffe};
    case Arch::kRiscv64:
      return {wire::riscv64::kSatp, 0x0000'0fff'ffff'ffff, 12};
    case Arch::kUnknown:
      break;
  }
  return {};
}

std::optional<std::uint64_t> user_root(const wire::Capture& capture) {
  const RootField field = root_field(capture.arch);
  if (!capture.registers.has(field.reg)) return std::nullopt;
  return (capture.registers.get(field.reg) & field.mask) << field.shift;
}

}  // namespace ringside::guestos
