#include "wire/execution_mode.h"

#include <array>
#include <utility>

namespace ringside::wire {
namespace {

namespace x86 = x86_64;
namespace x32 = i386;

constexpr std::uint64_t kProtectionEnable = 1;
constexpr std::uint64_t kPaging = std::uint64_t{1} << 31;
constexpr std::uint64_t kLongModeActive = 1u << 10;
constexpr std::uint64_t kVirtual8086 = 1u << 17;

bool pages(std::uint64_t cr0) { return (cr0 & kProtectionEnable) != 0 && (cr0 & kPaging) != 0; }

PrivilegeLevel x86_level(const Registers& registers, std::uint8_t cr0, std::uint8_t cs) {
  if (registers.has(cr0) && !pages(registers.get(cr0))) return PrivilegeLevel::kFirmware;
  if (!registers.has(cs)) return PrivilegeLevel::kUnknown;
  return (registers.get(cs) & 3u) == 3 ? PrivilegeLevel::kUser : PrivilegeLevel::kKernel;
}

// SPSR_ELx.M as in the Arm Architecture Reference Manual, C5.2.18: bit 4 AArch32, bits 3:2 the
// exception level.
PrivilegeLevel aarch64_level(std::uint64_t cpsr) {
  constexpr std::uint64_t kAArch32 = 0x10;
  if ((cpsr & kAArch32) != 0)
    return (cpsr & 0xf) == 0 ? PrivilegeLevel::kUser : PrivilegeLevel::kUnknown;
  switch (cpsr >> 2 & 3) {
    case 0:
      return PrivilegeLevel::kUser;
    case 1:
      return PrivilegeLevel::kKernel;
    default:
      return PrivilegeLevel::kFirmware;
  }
}

// The RISC-V Instruction Set Manual, volume II, table 1.1.
PrivilegeLevel riscv64_level(std::uint64_t priv) {
  switch (priv & 3) {
    case 0:
      return PrivilegeLevel::kUser;
    case 1:
      return PrivilegeLevel::kKernel;
    case 3:
      return PrivilegeLevel::kFirmware;
    default:
      return PrivilegeLevel::kUnknown;
  }
}

}  // namespace

PrivilegeLevel privilege_level_of(Arch arch, const Registers& registers) {
  switch (arch) {
    case Arch::kX86_64:
      return x86_level(registers, x86::kCr0, x86::kCs);
    case Arch::kI386: {
      const PrivilegeLevel level = x86_level(registers, x32::kCr0, x32::kCs);
      // Virtual-8086 mode is ring 3; its segments are no selectors.
      const bool vm86 = (registers.get(x32::kEflags) & kVirtual8086) != 0;
      return level == PrivilegeLevel::kKernel && vm86 ? PrivilegeLevel::kUser : level;
    }
    case Arch::kAArch64:
      if (!registers.has(aarch64::kCpsr)) break;
      return aarch64_level(registers.get(aarch64::kCpsr));
    case Arch::kRiscv64:
      if (!registers.has(riscv64::kPriv)) break;
      return riscv64_level(registers.get(riscv64::kPriv));
    case Arch::kUnknown:
      break;
  }
  return PrivilegeLevel::kUnknown;
}

std::optional<std::uint8_t> running_level(Arch arch, const Registers& registers) {
  constexpr std::uint64_t kAArch32 = 0x10;
  if (arch == Arch::kAArch64 && registers.has(aarch64::kCpsr)) {
    const std::uint64_t cpsr = registers.get(aarch64::kCpsr);
    if ((cpsr & kAArch32) == 0) return static_cast<std::uint8_t>(cpsr >> 2 & 3);
  }
  if (arch == Arch::kRiscv64 && registers.has(riscv64::kPriv))
    return static_cast<std::uint8_t>(registers.get(riscv64::kPriv) & 3);
  return std::nullopt;
}

Registers low_halves(const Registers& registers) {
  constexpr std::array<std::pair<std::uint8_t, std::uint8_t>, 18> kSame{{
      {x86::kRax, x32::kEax},
      {x86::kRcx, x32::kEcx},
      {x86::kRdx, x32::kEdx},
      {x86::kRbx, x32::kEbx},
      {x86::kRsp, x32::kEsp},
      {x86::kRbp, x32::kEbp},
      {x86::kRsi, x32::kEsi},
      {x86::kRdi, x32::kEdi},
      {x86::kRip, x32::kEip},
      {x86::kRflags, x32::kEflags},
      {x86::kCs, x32::kCs},
      {x86::kSs, x32::kSs},
      {x86::kFsBase, x32::kFsBase},
      {x86::kGsBase, x32::kGsBase},
      {x86::kCr0, x32::kCr0},
      {x86::kCr2, x32::kCr2},
      {x86::kCr3, x32::kCr3},
      {x86::kCr4, x32::kCr4},
  }};
  Registers result;
  for (const auto& [from, to] : kSame)
    if (registers.has(from)) result.set(to, registers.get(from) & 0xffffffffu);
  return result;
}

std::optional<Registers> as_i386(const Registers& registers) {
  if (!registers.has(x86::kEfer) || !registers.has(x86::kCr0)) return std::nullopt;
  if (!pages(registers.get(x86::kCr0)) || (registers.get(x86::kEfer) & kLongModeActive) != 0)
    return std::nullopt;
  return low_halves(registers);
}

}  // namespace ringside::wire
