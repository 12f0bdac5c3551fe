#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "arch/arch_info.h"
#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::unwind::link_register {

inline constexpr std::uint8_t kNoRegister = 0xff;
inline constexpr std::uint8_t kZeroRegister = 0xfe;  // reads as 0

// Effect of an instruction on registers, the stack and the flow of control, as far as stacks are
// concerned; all else is kOther. Registers have arch/registers.h's numbers.
enum class Operation : std::uint8_t {
  kOther,              // may write `writes`
  kSet,                // a = value
  kAdd,                // a = b + value; moves too
  kAddRegisters,       // a = b + c
  kSubtractRegisters,  // a = b - c
  kLoad,               // a = [b + value], c = the word behind it; then b += step
  kStore,              // [b + value] = a, the word behind it = c; then b += step
  kSystem,             // a = the system register `system`, which then becomes b
  kRet,                // to the address in b
  kInterruptRet,       // eret, sret, mret
  kJump,               // to target
  kJumpIndirect,       // to the address in b + value
  kBranch,             // conditionally to target
  kCall,               // to target, or through a register: to b + value where those are given
  kTrap,               // a breakpoint instruction: what follows may never run
  kStop,               // nothing follows: bytes that are no instruction
};

struct Instruction {
  Operation operation = Operation::kOther;
  std::uint8_t size = 4;
  std::uint8_t a = kNoRegister;
  std::uint8_t b = kNoRegister;
  std::uint8_t c = kNoRegister;
  std::uint8_t system = kNoRegister;
  std::int64_t value = 0;
  std::int64_t step = 0;
  std::optional<ImageAddr> target = std::nullopt;
  std::uint32_t writes = 0;  // general registers that it changes, by bit
};

// Where code on aarch64 keeps the link register while it calls a tracer of the kernel.
inline constexpr std::uint8_t kCopyOfLinkRegister = 9;
[[nodiscard]] constexpr bool copies_link_register(const arch::ArchInfo& platform) {
  return platform.id == Arch::kAArch64;
}

// The instructions of one architecture.
class Decoder {
 public:
  virtual ~Decoder() = default;
  // The first instruction of `bytes`, which lie at `address`.
  [[nodiscard]] virtual Instruction decode(Bytes bytes, ImageAddr address) const = 0;
};

}  // namespace ringside::unwind::link_register
