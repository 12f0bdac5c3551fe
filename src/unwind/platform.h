#pragma once

#include <cstdint>

#include "base/types.h"
#include "wire/registers.h"

namespace ringside::unwind {

// What differs between architectures for every source of rules: the parts that registers play, how
// wide an address is, and how saved registers tell user from kernel code.
struct Platform {
  Arch arch = Arch::kUnknown;
  wire::RegisterRoles roles = {};
  std::uint64_t address_mask = ~std::uint64_t{0};
  // The saved register that tells the privilege level, and the bits of it that are `user_value`
  // in user mode.
  std::uint8_t status = wire::RegisterRoles::kNone;
  std::uint64_t user_mask = 0;
  std::uint64_t user_value = 0;

  [[nodiscard]] constexpr bool is_user(std::uint64_t status_value) const {
    return (status_value & user_mask) == user_value;
  }

  // A saved return address without its pointer authentication code (Arm ARM, D8.10): bits 63 to 56
  // and 54 up to the address size, which bit 55 replaces. 48-bit addresses are assumed, which is
  // what kernels use unless they were built for 52.
  [[nodiscard]] constexpr std::uint64_t code_address(std::uint64_t value) const {
    if (arch != Arch::kAArch64) return value & address_mask;
    constexpr std::uint64_t kExtension = ~std::uint64_t{0} << 48;
    return (value >> 55 & 1) != 0 ? value | kExtension : value & ~kExtension;
  }
};

constexpr Platform platform_of(Arch arch) {
  Platform platform{.arch = arch, .roles = wire::roles_of(arch)};
  switch (arch) {
    case Arch::kX86_64:  // the code segment's privilege level (Intel SDM volume 3, 5.5)
      platform.status = wire::x86_64::kCs;
      platform.user_mask = platform.user_value = 3;
      break;
    case Arch::kI386:
      platform.status = wire::i386::kCs;
      platform.user_mask = platform.user_value = 3;
      platform.address_mask = 0xffffffff;
      break;
    case Arch::kAArch64:  // SPSR.M: EL0t is 0, and bit 4 is set for AArch32, which is user code
      platform.status = wire::aarch64::kCpsr;
      platform.user_mask = 0xf;
      break;
    case Arch::kRiscv64:  // sstatus.SPP (RISC-V privileged specification, 4.1.1)
      platform.status = wire::riscv64::kSstatus;
      platform.user_mask = 0x100;
      break;
    case Arch::kUnknown:
      break;
  }
  return platform;
}

inline constexpr Platform kX86_64Platform = platform_of(Arch::kX86_64);
inline constexpr Platform kI386Platform = platform_of(Arch::kI386);
inline constexpr Platform kAArch64Platform = platform_of(Arch::kAArch64);
inline constexpr Platform kRiscv64Platform = platform_of(Arch::kRiscv64);

// Null for an architecture that cannot be unwound.
constexpr const Platform* find_platform(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
      return &kX86_64Platform;
    case Arch::kI386:
      return &kI386Platform;
    case Arch::kAArch64:
      return &kAArch64Platform;
    case Arch::kRiscv64:
      return &kRiscv64Platform;
    case Arch::kUnknown:
      break;
  }
  return nullptr;
}

}  // namespace ringside::unwind
