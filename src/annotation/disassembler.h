#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "annotation/llvm_library.h"
#include "base/byte_reader.h"
#include "base/result.h"
#include "base/types.h"

namespace ringside::annotation {

// How x86 instructions are written; other architectures have one way.
enum class Syntax { kAtt, kIntel };

struct Instruction {
  std::uint64_t address = 0;
  std::uint8_t size = 0;  // bytes
  // The mnemonic, a space, and the operands. The target of a jump stands there as `target_text()`.
  std::string text;
  std::optional<std::uint64_t> target;  // of a jump or a call, where the instruction names it
  bool is_call = false;
};

// "0x1234": an address in an instruction's text.
[[nodiscard]] std::string target_text(std::uint64_t target);

// An operand that is the target of a jump, which LLVM asks for while it reads an instruction.
struct BranchOperand {
  std::optional<std::uint64_t> target;
  std::string text;
};

// Turns machine code into text, by LLVM. About a microsecond an instruction.
class Disassembler {
 public:
  // Errors: those of LlvmLibrary.
  [[nodiscard]] static Result<Disassembler> create(const LlvmLibrary& library, Arch arch,
                                                   Syntax syntax);
  Disassembler(Disassembler&& other) noexcept;
  Disassembler& operator=(Disassembler&&) = delete;
  ~Disassembler();

  // The instruction at the start of `code`, which is not empty and stands at `address`. Bytes that
  // are no instruction are shown as ".byte" (x86) or ".inst", as many as the shortest instruction
  // has.
  [[nodiscard]] Instruction first(Bytes code, std::uint64_t address);
  // All instructions of `code`, without gaps.
  [[nodiscard]] std::vector<Instruction> all(Bytes code, std::uint64_t address);

 private:
  Disassembler(const LlvmLibrary& library, Arch arch)
      : library_(library), arch_(arch), operand_(std::make_unique<BranchOperand>()) {}
  [[nodiscard]] Instruction decoded(Bytes code, std::uint64_t address);
  [[nodiscard]] Instruction no_instruction(Bytes code, std::uint64_t address) const;

  LlvmLibrary library_;
  Arch arch_;
  std::unique_ptr<BranchOperand> operand_;
  LlvmLibrary::Context context_ = nullptr;
};

}  // namespace ringside::annotation
