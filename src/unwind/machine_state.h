#pragma once

#include <array>
#include <cstdint>

#include "base/types.h"
#include "unwind/rule.h"
#include "wire/registers.h"

namespace ringside::unwind {

// The registers of one frame as far as they are known, and for each that came from memory the slot
// that it was loaded from: when a stack pointer leads to a stack that was not copied, that slot is
// what the next capture has to follow.
struct MachineState {
  std::array<std::uint64_t, kTrackedRegisters> values{};
  std::array<GuestVirt, kTrackedRegisters> slots{};  // 0: not from memory
  std::uint32_t valid = 0;
  bool exact = false;  // the pc is that of code being run or interrupted, not a return address

  [[nodiscard]] bool has(std::size_t reg) const {
    return reg < kTrackedRegisters && (valid >> reg & 1u) != 0;
  }
  [[nodiscard]] std::uint64_t get(std::size_t reg) const { return values[reg]; }
  void set(std::size_t reg, std::uint64_t value, GuestVirt slot = {}) {
    values[reg] = value;
    slots[reg] = slot;
    valid |= 1u << reg;
  }
  void forget(std::size_t reg) { valid &= ~(1u << reg); }

  [[nodiscard]] GuestVirt pc() const { return {values[wire::x86_64::kRip]}; }
  [[nodiscard]] GuestVirt sp() const { return {values[wire::x86_64::kRsp]}; }
};

}  // namespace ringside::unwind
