#include "unwind/x86/register_number.h"

#include <capstone/capstone.h>

#include <array>

#include "unwind/x86/decoder.h"

namespace ringside::unwind::x86 {
namespace {

std::uint8_t x86_64_register(unsigned reg) {
  using namespace arch::x86_64;
  switch (reg) {
#define RINGSIDE_LEGACY(number, letter, low) \
  case X86_REG_R##letter:                    \
  case X86_REG_E##letter:                    \
  case X86_REG_##letter:                     \
  case X86_REG_##low:                        \
    return number;
    RINGSIDE_LEGACY(kRax, AX, AL)
    RINGSIDE_LEGACY(kRdx, DX, DL)
    RINGSIDE_LEGACY(kRcx, CX, CL)
    RINGSIDE_LEGACY(kRbx, BX, BL)
    RINGSIDE_LEGACY(kRsi, SI, SIL)
    RINGSIDE_LEGACY(kRdi, DI, DIL)
    RINGSIDE_LEGACY(kRbp, BP, BPL)
    RINGSIDE_LEGACY(kRsp, SP, SPL)
#undef RINGSIDE_LEGACY
#define RINGSIDE_NUMBERED(n) \
  case X86_REG_R##n:         \
  case X86_REG_R##n##D:      \
  case X86_REG_R##n##W:      \
  case X86_REG_R##n##B:      \
    return kR##n;
    RINGSIDE_NUMBERED(8)
    RINGSIDE_NUMBERED(9)
    RINGSIDE_NUMBERED(10)
    RINGSIDE_NUMBERED(11)
    RINGSIDE_NUMBERED(12)
    RINGSIDE_NUMBERED(13)
    RINGSIDE_NUMBERED(14)
    RINGSIDE_NUMBERED(15)
#undef RINGSIDE_NUMBERED
    case X86_REG_AH:
      return kRax;
    case X86_REG_BH:
      return kRbx;
    case X86_REG_CH:
      return kRcx;
    case X86_REG_DH:
      return kRdx;
    default:
      return kNoRegister;
  }
}

// DWARF numbers the same registers otherwise on i386.
std::uint8_t i386_register(unsigned reg) {
  using namespace arch::i386;
  constexpr std::array<std::uint8_t, 8> kNumbers = {kEax, kEdx, kEcx, kEbx, kEsi, kEdi, kEbp, kEsp};
  const std::uint8_t number = x86_64_register(reg);
  return number < kNumbers.size() ? kNumbers[number] : kNoRegister;
}

}  // namespace

std::uint8_t register_number(Arch arch, unsigned reg) {
  return arch == Arch::kX86_64 ? x86_64_register(reg) : i386_register(reg);
}

}  // namespace ringside::unwind::x86
