#pragma once

#include <cstdint>
#include <optional>

#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::unwind::x86_64 {

// What an instruction does to the stack pointer, the frame pointer and the flow of control; all
// else is kOther. Registers have their DWARF numbers; kNoRegister stands for none, or one that is
// not general.
enum class Operation : std::uint8_t {
  kOther,         // may write `writes`
  kPush,          // a = the register, or kNoRegister for an immediate or memory
  kPop,           // a = the register, or kNoRegister for memory
  kMove,          // a = b
  kLoad,          // a = [b + value]
  kStore,         // [b + value] = a; a is kNoRegister for an immediate
  kLea,           // a = b + value
  kAdd,           // a = a + value; subtractions too
  kZero,          // a = 0
  kLeave,         // rsp = rbp, pop rbp
  kRet,           // value = bytes popped behind the return address
  kInterruptRet,  // iretq
  kSystemRet,     // sysret, sysexit
  kJump,          // to target
  kJumpIndirect,
  kBranch,  // conditionally to target
  kCall,    // to target, or through a pointer where there is no target
  kTrap,    // ud2: what follows may never run
  kStop,    // nothing follows: int3, or bytes that are no instruction
};

inline constexpr std::uint8_t kNoRegister = 0xff;

struct Instruction {
  Operation operation = Operation::kOther;
  std::uint8_t size = 1;
  std::uint8_t a = kNoRegister;
  std::uint8_t b = kNoRegister;
  std::int64_t value = 0;
  std::optional<ImageAddr> target = std::nullopt;
  std::uint32_t writes = 0;  // general registers that it changes, by bit
};

// Decodes 64-bit code with capstone. Not for use by several threads at once.
class Decoder {
 public:
  Decoder();
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The first instruction of `bytes`, which lie at `address`.
  [[nodiscard]] Instruction decode(Bytes bytes, ImageAddr address);

 private:
  std::size_t handle_ = 0;
  void* instruction_ = nullptr;
};

}  // namespace ringside::unwind::x86_64
