#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "arch/arch_info.h"
#include "base/byte_reader.h"
#include "base/types.h"

namespace ringside::unwind::x86 {

// Effect of an instruction on the stack pointer, the frame pointer and the flow of control; all
// else is kOther. A word has as many bytes as an address. Registers have their DWARF numbers;
// kNoRegister stands for none, or one that is not general.
enum class Operation : std::uint8_t {
  kOther,         // may write `writes`
  kPush,          // `from`; a = the register, if it is one
  kPushAll,       // pusha
  kPop,           // a = the register, or kNoRegister for memory
  kPopAll,        // popa
  kMove,          // a = b
  kLoad,          // a = [b + value]
  kStore,         // [b + value] = from; a = the register, if it is one
  kLea,           // a = b + value
  kAdd,           // a = a + value; subtractions too
  kZero,          // a = 0, by xor
  kSet,           // a = value
  kArithmetic,    // `to` = `to` alu `from`; kCompare and kTest set flags only
  kExchange,      // a <-> b
  kCopyWords,     // rep movs of words
  kLeave,         // sp = fp, pop fp
  kRet,           // value = bytes popped behind the return address
  kInterruptRet,  // iret
  kSystemRet,     // sysret, sysexit
  kJump,          // to target
  kJumpIndirect,
  kBranch,  // conditionally to target
  kCall,    // to target, or through a pointer where there is no target
  kTrap,    // ud2: what follows may never run
  kStop,    // nothing follows: int3, or bytes that are no instruction
};

struct CapstoneLibrary;

enum class Alu : std::uint8_t { kAdd, kAnd, kOr, kXor, kSubtract, kShiftRight, kCompare, kTest };

// When a branch is taken: kCarry is "below", unsigned.
enum class Condition : std::uint8_t { kUnknown, kZero, kNotZero, kCarry, kNotCarry };

inline constexpr std::uint8_t kNoRegister = 0xff;

// The registers that pusha pushes, in order (Intel SDM volume 2). The numbers are i386's: 64-bit
// code has no such instruction.
inline constexpr std::array<std::uint8_t, 8> kPushAllOrder = {
    arch::i386::kEax, arch::i386::kEcx, arch::i386::kEdx, arch::i386::kEbx,
    arch::i386::kEsp, arch::i386::kEbp, arch::i386::kEsi, arch::i386::kEdi};

struct Operand {
  enum class Kind : std::uint8_t { kNone, kRegister, kMemory, kImmediate };
  Kind kind = Kind::kNone;
  std::uint8_t reg = kNoRegister;  // for kMemory the base
  std::uint8_t size = 0;           // bytes
  std::int64_t value = 0;          // the immediate, or the displacement
};

struct Instruction {
  Operation operation = Operation::kOther;
  std::uint8_t size = 1;
  std::uint8_t a = kNoRegister;
  std::uint8_t b = kNoRegister;
  std::int64_t value = 0;
  std::optional<ImageAddr> target = std::nullopt;
  std::uint32_t writes = 0;  // general registers that it changes, by bit
  Operand to = {};
  Operand from = {};
  Alu alu = Alu::kAnd;
  Condition condition = Condition::kUnknown;
  bool writes_flags = false;
};

// Decodes 32-bit or 64-bit code with capstone; where that cannot be opened (capstone_library.h),
// all is kStop. Not for use by several threads at once.
class Decoder {
 public:
  explicit Decoder(const arch::ArchInfo& platform);
  ~Decoder();
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The first instruction of `bytes`, which lie at `address`.
  [[nodiscard]] Instruction decode(Bytes bytes, ImageAddr address);

 private:
  const arch::ArchInfo& platform_;
  const CapstoneLibrary* library_;
  std::size_t handle_ = 0;
  void* instruction_ = nullptr;
};

// After a Decoder was made that could not open capstone: a sentence with the reason, what is
// missing and what to install. Else empty.
[[nodiscard]] std::string decoder_problem();

}  // namespace ringside::unwind::x86
