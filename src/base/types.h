#pragma once

#include <fmt/core.h>

#include <charconv>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace ringside {

// An address or offset that cannot be mixed up with another kind of number.
template <class Tag>
struct Address {
  std::uint64_t value = 0;

  constexpr auto operator<=>(const Address&) const = default;
  constexpr Address operator+(std::uint64_t n) const { return {value + n}; }
  constexpr Address operator-(std::uint64_t n) const { return {value - n}; }
  // Distance in bytes, modulo 2^64.
  constexpr std::uint64_t operator-(Address other) const { return value - other.value; }
};

using GuestVirt = Address<struct GuestVirtTag>;    // as a vCPU sees it
using GuestPhys = Address<struct GuestPhysTag>;    // guest-physical
using FileOffset = Address<struct FileOffsetTag>;  // bytes from the start of a file
using ImageAddr = Address<struct ImageAddrTag>;    // as linked: guest virtual minus load bias

// A vCPU's number as QEMU and the guest count them, from 0.
struct VcpuId {
  std::uint16_t value = 0;
  constexpr auto operator<=>(const VcpuId&) const = default;
};

// arch/arch_info.h says what is known of each.
enum class Arch : std::uint8_t { kUnknown, kX86_64, kI386, kAArch64, kRiscv64 };
inline constexpr Arch kLastArch = Arch::kRiscv64;

// Who was running. Firmware is what runs before the kernel: BIOS, boot loader, 16-bit code,
// OpenSBI. A guest is what the kernel runs as a hypervisor: another kernel, or its programs.
enum class PrivilegeLevel : std::uint8_t { kUnknown, kKernel, kUser, kFirmware, kGuest };
inline constexpr PrivilegeLevel kLastPrivilegeLevel = PrivilegeLevel::kGuest;
inline constexpr std::size_t kPrivilegeLevelCount = 5;

}  // namespace ringside

// As "{:#x}". By hand, because fmt's own way needs <fmt/format.h>, which is dear to compile.
template <class Tag>
struct fmt::formatter<ringside::Address<Tag>> {
  constexpr auto parse(format_parse_context& context) { return context.begin(); }
  template <class Context>
  auto format(ringside::Address<Tag> address, Context& context) const {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof(digits), address.value, 16).ptr;
    auto out = context.out();
    for (const char c : {'0', 'x'}) *out++ = c;
    for (const char* digit = digits; digit != end; ++digit) *out++ = *digit;
    return out;
  }
};

template <class Tag>
struct std::hash<ringside::Address<Tag>> {
  std::size_t operator()(ringside::Address<Tag> address) const noexcept {
    return std::hash<std::uint64_t>{}(address.value);
  }
};
