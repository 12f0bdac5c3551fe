#pragma once

#include <array>
#include <cstdint>

#include "base/stack.h"

namespace ringside::unwind {

// x86_64: the DWARF numbers 0 to 16, the return address last (psABI figure 3.36). Other
// architectures get their own count when they come.
inline constexpr std::size_t kTrackedRegisters = 17;

// A DWARF expression: where it lies in the bytes of its call-frame section.
struct ExpressionRef {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

// How to find one register of the caller (DWARF 5, section 6.4.1).
struct RegisterRule {
  enum class Kind : std::uint8_t {
    kUndefined,
    kSame,
    kOffset,         // saved at CFA + offset
    kValOffset,      // is CFA + offset
    kRegister,       // in another register
    kExpression,     // saved at the address that the expression gives
    kValExpression,  // is the value of the expression
  };
  Kind kind = Kind::kUndefined;
  std::uint8_t reg = 0;
  std::int64_t offset = 0;
  ExpressionRef expression = {};
};

struct CfaRule {
  enum class Kind : std::uint8_t { kNone, kRegisterOffset, kExpression };
  Kind kind = Kind::kNone;
  std::uint8_t reg = 0;
  std::int64_t offset = 0;
  ExpressionRef expression = {};
};

// The step from one frame to its caller, valid for one code address. A plain value: computed once,
// kept in a cache, applied to any machine state.
struct Rule {
  CfaRule cfa;
  std::array<RegisterRule, kTrackedRegisters> registers{};
  std::uint8_t return_register = 16;
  bool signal_frame = false;  // the caller was interrupted: its pc is exact
  FrameSource source = FrameSource::kCfi;
};

}  // namespace ringside::unwind
