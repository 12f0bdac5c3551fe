#pragma once

#include <cstdint>
#include <optional>

#include "base/types.h"
#include "wire/registers.h"

namespace ringside::unwind {

// What differs between architectures for every source of rules: the parts that registers play, how
// wide an address is, and how saved registers tell user from kernel code.
struct Platform {
  Arch arch = Arch::kUnknown;
  wire::RegisterRoles roles = {};
  std::uint64_t address_mask = ~std::uint64_t{0};
  // The saved register that tells the privilege level: where its bits `status_mask` are
  // `user_value` user code was interrupted; or, where there is a `kernel_value`, where they are not
  // that.
  std::uint8_t status = wire::RegisterRoles::kNone;
  std::uint64_t status_mask = 0;
  std::uint64_t user_value = 0;
  std::optional<std::uint64_t> kernel_value = std::nullopt;

  [[nodiscard]] constexpr bool is_user(std::uint64_t saved) const {
    const std::uint64_t bits = saved & status_mask;
    return kernel_value ? bits != *kernel_value : bits == user_value;
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
      platform.status_mask = platform.user_value = 3;
      break;
    case Arch::kI386:
      platform.status = wire::i386::kCs;
      platform.status_mask = platform.user_value = 3;
      platform.address_mask = 0xffffffff;
      break;
    case Arch::kAArch64:  // SPSR.M: EL0t is 0, and bit 4 is set for AArch32, which is user code
      platform.status = wire::aarch64::kCpsr;
      platform.status_mask = 0xf;
      break;
    case Arch::kRiscv64:  // sstatus.SPP (RISC-V privileged specification, 4.1.1)
      platform.status = wire::riscv64::kSstatus;
      platform.status_mask = 0x100;
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

// A kernel in machine mode, or in a higher exception level than usual: all that it enters is less
// privileged.
constexpr Platform platform_of(Arch arch, std::uint8_t level) {
  Platform platform = platform_of(arch);
  if (arch == Arch::kRiscv64) {  // mstatus.MPP (RISC-V privileged specification, 3.1.6.1)
    platform.status_mask = 3u << 11;
    platform.kernel_value = std::uint64_t{level} << 11;
  } else if (arch == Arch::kAArch64) {  // SPSR.M: bit 4 AArch32, bits 3:2 the level
    platform.status_mask = 0x1c;
    platform.kernel_value = std::uint64_t{level} << 2;
  }
  return platform;
}
inline constexpr Platform kMachineModePlatform = platform_of(Arch::kRiscv64, 3);
inline constexpr Platform kEl2Platform = platform_of(Arch::kAArch64, 2);
inline constexpr Platform kEl3Platform = platform_of(Arch::kAArch64, 3);

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

// That of a kernel which runs in this level (wire::running_level()).
constexpr const Platform* find_platform(Arch arch, std::optional<std::uint8_t> level) {
  if (arch == Arch::kRiscv64 && level == 3) return &kMachineModePlatform;
  if (arch == Arch::kAArch64 && level == 2) return &kEl2Platform;
  if (arch == Arch::kAArch64 && level == 3) return &kEl3Platform;
  return find_platform(arch);
}

}  // namespace ringside::unwind
