#pragma once

#include <array>
#include <cstdint>

#include "arch/arch_info.h"
#include "base/types.h"
#include "unwind/rule.h"

namespace ringside::unwind {

// The registers of one frame as far as they are known, and for each that came from memory the slot
// that it was loaded from: when a stack pointer leads to a stack that was not copied, that slot is
// what the next capture has to follow.
struct MachineState {
  const arch::ArchInfo* platform = &arch::kX86_64Info;
  std::array<std::uint64_t, kTrackedRegisters> values{};
  std::array<GuestVirt, kTrackedRegisters> slots{};  // 0: not from memory
  std::uint64_t valid = 0;
  bool exact = false;  // the pc is that of code being run or interrupted, not a return address
  // No frame above this one was interrupted: where this one's code handles an exception, the
  // capture's exception registers (arch::ArchInfo::exception) are of that one, unless the code has
  // written them.
  bool has_exception = false;

  [[nodiscard]] bool has(std::size_t reg) const {
    return reg < kTrackedRegisters && (valid >> reg & 1u) != 0;
  }
  [[nodiscard]] std::uint64_t get(std::size_t reg) const { return values[reg]; }
  void set(std::size_t reg, std::uint64_t value, GuestVirt slot = {}) {
    values[reg] = value;
    slots[reg] = slot;
    valid |= std::uint64_t{1} << reg;
  }
  void forget(std::size_t reg) { valid &= ~(std::uint64_t{1} << reg); }

  [[nodiscard]] GuestVirt pc() const { return {values[platform->roles.pc]}; }
  // 0 where a frame pointer led to the frame and its stack pointer is not known.
  [[nodiscard]] GuestVirt sp() const { return {values[platform->roles.sp]}; }
  [[nodiscard]] bool has_sp() const { return has(platform->roles.sp); }
  // How far the walk has come on its stack.
  [[nodiscard]] GuestVirt position() const {
    return has_sp() ? sp() : GuestVirt{values[platform->roles.fp]};
  }
  // The address to look this frame's code up with: a return address may lie behind its function.
  [[nodiscard]] GuestVirt lookup_address() const { return exact ? pc() : pc() - 1; }
};

}  // namespace ringside::unwind
