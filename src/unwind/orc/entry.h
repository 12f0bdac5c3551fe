#pragma once

#include <cstdint>
#include <optional>

#include "unwind/rule.h"

namespace ringside::unwind::orc {

// How the six bytes of an entry are laid out (Linux, arch/x86/include/asm/orc_types.h):
//   4.19 to 6.2: sp_offset:16, bp_offset:16, sp_reg:4, bp_reg:4, type:2, end:1
//   6.3:         the same with type:2, signal:1, end:1
//   since 6.4:   the same with type:3, signal:1; the end has a type of its own
// 4.14 to 4.18 have the first without the end.
enum class Format : std::uint8_t { kEndBit, kSignalAndEndBits, kTypes };

enum class Type : std::uint8_t { kUndefined, kEnd, kCall, kRegisters, kPartialRegisters };

// A register that a frame is found from (ORC_REG_*).
enum class Base : std::uint8_t {
  kUndefined,
  kPreviousSp,
  kDx,
  kDi,
  kBp,
  kSp,
  kR10,
  kR13,
  kBpIndirect,
  kSpIndirect,
};

struct Entry {
  std::int16_t sp_offset = 0;
  std::int16_t bp_offset = 0;
  Base sp = Base::kUndefined;
  Base bp = Base::kUndefined;
  Type type = Type::kUndefined;
  bool signal = false;
};

// `raw` are the six bytes, the first lowest.
[[nodiscard]] Entry decode(std::uint64_t raw, Format format);

// The rule that an entry stands for, as Linux's unwind_next_frame() carries it out
// (arch/x86/kernel/unwind_orc.c, 6.1): the stack pointer before the call is the CFA; a frame of
// saved registers lies at it. Nothing where nothing is known.
[[nodiscard]] std::optional<Rule> rule_of(const Entry& entry);

}  // namespace ringside::unwind::orc
