#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "arch/arch_info.h"
#include "base/stack.h"

namespace ringside::unwind {

// The numbers of arch/registers.h from 0 to aarch64's and riscv64's pc. They are DWARF's, but for
// riscv64's pc.
inline constexpr std::size_t kTrackedRegisters = 33;

// A DWARF expression: where it lies in the bytes of its call-frame section.
struct ExpressionRef {
  std::uint32_t offset = 0;
  std::uint32_t size = 0;
};

// How to find one register of the caller (DWARF 5, section 6.4.1; ORC adds kAtRegister).
struct RegisterRule {
  enum class Kind : std::uint8_t {
    kUndefined,
    kSame,
    kOffset,         // saved at CFA + offset
    kValOffset,      // is CFA + offset
    kRegister,       // in another register
    kAtRegister,     // saved at reg + offset
    kExpression,     // saved at the address that the expression gives
    kValExpression,  // is the value of the expression
  };
  Kind kind = Kind::kUndefined;
  std::uint8_t reg = 0;
  std::int64_t offset = 0;
  ExpressionRef expression = {};
};

struct CfaRule {
  enum class Kind : std::uint8_t {
    kNone,
    kRegisterOffset,  // reg + offset
    kDereference,     // [reg + offset] + addend
    kExpression,
  };
  Kind kind = Kind::kNone;
  std::uint8_t reg = 0;
  std::int64_t offset = 0;
  ExpressionRef expression = {};
  std::int64_t addend = 0;
};

// The step from one frame to its caller, valid for one code address. A plain value, applied to any
// machine state.
struct Rule {
  CfaRule cfa = {};
  std::array<RegisterRule, kTrackedRegisters> registers{};
  std::uint8_t return_register = 16;
  bool signal_frame = false;  // the caller was interrupted: its pc is exact
  // A frame pointer of zero states that there is no caller. In a rule from instructions it is false
  // where the code around them keeps no frame pointers.
  bool ends_at_zero_fp = true;
  FrameSource source = FrameSource::kCfi;
  // Where a signal frame keeps the register that distinguishes user from kernel code
  // (arch::ArchInfo::saved_mode), from the CFA on.
  std::optional<std::int64_t> status_offset = std::nullopt;
  bool ends = false;       // nothing is below this frame
  bool from_user = false;  // and that is user code
  // Words on top of the stack that point into this code are not part of the frame: a CFA that is
  // found from the stack pointer is found from behind them.
  struct CodeSpan {
    GuestVirt start;
    std::uint64_t size = 0;
  };
  CodeSpan own_code = {};
};

// Which tables may give rules. All of them, but where one is measured or compared with another.
struct TableUse {
  bool orc = true;
  bool cfi = true;
};

}  // namespace ringside::unwind
