#pragma once

#include <cstddef>
#include <cstdint>

// The registers that a capture carries, the same numbers for every engine. General registers have
// their DWARF numbers, so that call-frame information can name them.

namespace ringside::wire {

inline constexpr std::size_t kRegisterCount = 64;

// System V psABI for x86-64, figure 3.36: rax rdx rcx rbx rsi rdi rbp rsp r8 … r15, return address.
namespace x86_64 {
enum Register : std::uint8_t {
  kRax,
  kRdx,
  kRcx,
  kRbx,
  kRsi,
  kRdi,
  kRbp,
  kRsp,
  kR8,
  kR9,
  kR10,
  kR11,
  kR12,
  kR13,
  kR14,
  kR15,
  kRip,
  // Our own numbers from here on.
  kRflags = 32,
  kCs,
  kSs,
  kFsBase,
  kGsBase,
  kKernelGsBase,
  kCr0,
  kCr2,
  kCr3,
  kCr4,
  kCr8,
  kEfer,
};
}  // namespace x86_64

struct Registers {
  std::uint64_t values[kRegisterCount] = {};
  std::uint64_t valid = 0;  // bit n: values[n] was read

  [[nodiscard]] constexpr bool has(std::size_t n) const {
    return n < kRegisterCount && (valid >> n & 1u) != 0;
  }
  [[nodiscard]] constexpr std::uint64_t get(std::size_t n) const { return values[n]; }
  constexpr void set(std::size_t n, std::uint64_t value) {
    values[n] = value;
    valid |= std::uint64_t{1} << n;
  }
  constexpr void forget(std::size_t n) { valid &= ~(std::uint64_t{1} << n); }
};

}  // namespace ringside::wire
