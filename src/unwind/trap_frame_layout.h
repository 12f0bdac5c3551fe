#pragma once

#include <array>
#include <cstdint>
#include <limits>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "base/types.h"
#include "unwind/rule.h"

namespace ringside::unwind {

// Where registers lie in a frame that entry code has saved: offsets in bytes from its start, by
// wire register number.
struct RegisterFrame {
  static constexpr std::int16_t kNotSaved = std::numeric_limits<std::int16_t>::min();

  std::array<std::int16_t, arch::kRegisterCount> offsets = [] {
    std::array<std::int16_t, arch::kRegisterCount> all{};
    all.fill(kNotSaved);
    return all;
  }();

  constexpr RegisterFrame& save(std::size_t reg, std::int16_t offset) {
    offsets[reg] = offset;
    return *this;
  }
  [[nodiscard]] constexpr bool saves(std::size_t reg) const { return offsets[reg] != kNotSaved; }
};

// A guest-OS adapter's description of a piece of entry code: what is below a frame whose address (a
// return address, or the pc itself) lies in [start, end). Places are at `base` + `base_offset` of
// that frame. For a return address the stack pointer is the value after the return; the frame
// pointer is for architectures whose stack pointer a frame-pointer walk does not know.
//
// With `calls_only` the frame lies there only while the code calls others, so that a pc in the
// range says nothing: the code may not have saved the registers yet, or restored them already.
//
// Linux x86_64, struct pt_regs: r15 0x00, r14 0x08, r13 0x10, r12 0x18, rbp 0x20, rbx 0x28, …, rip
// 0x80, cs 0x88, rflags 0x90, rsp 0x98, ss 0xa0.
struct TrapFrameLayout {
  enum class Base : std::uint8_t { kStackPointer, kFramePointer };
  enum class Below : std::uint8_t {
    // Interrupted code; `frame` lies at that place. Where the saved status register says user mode
    // the walk ends with kUserMode; else it goes on at the saved registers, with an exact pc, and
    // the frames so far are interrupt frames.
    kInterrupted,
    // A caller, whose stack pointer is that place. Its registers are where `frame` says, others
    // are unchanged; the return address is in `return_in`, or lies in the word before that place.
    kCaller,
    kUser,     // user code: nothing is read
    kNothing,  // the frame is the last of its stack (thread starts)
  };

  GuestVirt start = {};
  GuestVirt end = {};
  Below below = Below::kInterrupted;
  RegisterFrame frame = {};
  Base base = Base::kStackPointer;
  std::int16_t base_offset = 0;
  bool calls_only = false;
  std::uint8_t return_in = arch::RegisterRoles::kNone;
  // Known better than to tables, which come first otherwise.
  bool overrides = false;
  // Below::kInterrupted: a register that `frame` does not save is still the interrupted code's.
  bool keeps_registers = false;
  // Words on top of the stack that point into [start, end) were pushed to fill the processor's
  // return stack: `base` lies behind them.
  bool skips_own_words = false;
};

// The rule that a layout stands for; its CFA is the start of the frame.
[[nodiscard]] Rule rule_of(const TrapFrameLayout& layout, const arch::ArchInfo& platform);

}  // namespace ringside::unwind
