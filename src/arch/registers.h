#pragma once

#include <cstddef>
#include <cstdint>

// The registers that a capture carries, the same numbers for every engine. Each architecture's
// numbers stand in its own header.
#include "arch/aarch64.h"
#include "arch/i386.h"
#include "arch/riscv64.h"
#include "arch/x86_64.h"

namespace ringside::arch {

inline constexpr std::size_t kRegisterCount = 64;

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

}  // namespace ringside::arch
