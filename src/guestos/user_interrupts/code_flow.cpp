#include "guestos/user_interrupts/code_flow.h"

#include "arch/arch_info.h"
#include "base/little_endian.h"
#include "unwind/aarch64/decoder.h"
#include "unwind/riscv64/decoder.h"
#include "unwind/x86/decoder.h"
#include "unwind/x86/padding.h"

namespace ringside::guestos {
namespace {

// The names of operations are the same in the decoders.
template <class Operation, class Instruction>
Flow flow_of(const Instruction& instruction) {
  Flow flow{.size = instruction.size, .goes_on = true};
  switch (instruction.operation) {
    case Operation::kRet:
    case Operation::kJumpIndirect:
      flow.goes_on = false;
      flow.is_indirect = true;
      break;
    case Operation::kInterruptRet:
    case Operation::kTrap:
    case Operation::kStop:
      flow.goes_on = false;
      break;
    case Operation::kJump:
      flow.goes_on = false;
      flow.jumps_to = instruction.target;
      break;
    case Operation::kBranch:
      flow.jumps_to = instruction.target;
      break;
    case Operation::kCall:
      flow.is_call = true;
      break;
    default:
      break;
  }
  return flow;
}

// jmp, jcc and loop with their displacements (Intel SDM volume 2, appendix A).
std::optional<ImageAddr> x86_jump(Bytes bytes, ImageAddr address) {
  if (bytes.size() < 2) return std::nullopt;
  const auto first = load<std::uint8_t>(bytes, 0);
  const auto second = load<std::uint8_t>(bytes, 1);
  const bool is_short = first == 0xeb || first >> 4 == 7 || first >> 2 == 0xe0 >> 2;
  if (is_short) return address + 2 + static_cast<std::uint64_t>(load<std::int8_t>(bytes, 1));
  const bool is_conditional = first == 0x0f && second >> 4 == 8;
  if (first != 0xe9 && !is_conditional) return std::nullopt;
  const std::size_t opcode = is_conditional ? 2 : 1;
  if (bytes.size() < opcode + 4) return std::nullopt;
  const auto distance = static_cast<std::uint64_t>(load<std::int32_t>(bytes, opcode));
  return address + opcode + 4 + distance;
}

class X86Flow final : public CodeFlow {
 public:
  explicit X86Flow(Arch arch) : decoder_(arch::info_of(arch)) {}
  Flow at(Bytes bytes, ImageAddr address) override {
    using unwind::x86::Operation;
    const auto instruction = decoder_.decode(bytes, address);
    Flow flow = flow_of<Operation>(instruction);
    if (instruction.operation == Operation::kSystemRet) flow.goes_on = false;
    return flow;
  }
  std::optional<ImageAddr> jump(Bytes bytes, ImageAddr address) override {
    return x86_jump(bytes, address);
  }
  bool is_padding(Bytes instruction) const override {
    return unwind::x86::ends_with_padding(instruction);
  }
  std::size_t alignment() const override { return 1; }

 private:
  unwind::x86::Decoder decoder_;
};

template <class Decoder, std::size_t kAlignment>
class LinkRegisterFlow final : public CodeFlow {
 public:
  Flow at(Bytes bytes, ImageAddr address) override {
    return flow_of<unwind::link_register::Operation>(decoder_.decode(bytes, address));
  }
  std::optional<ImageAddr> jump(Bytes bytes, ImageAddr address) override {
    return at(bytes, address).jumps_to;
  }
  // nop: hint 0 of A64; addi x0, x0, 0 and its short form.
  bool is_padding(Bytes instruction) const override {
    if (instruction.size() == 2) return load<std::uint16_t>(instruction, 0) == 1;
    const std::uint32_t nop = kAlignment == 4 ? 0xd503201f : 0x13;
    return instruction.size() == 4 && load<std::uint32_t>(instruction, 0) == nop;
  }
  std::size_t alignment() const override { return kAlignment; }

 private:
  Decoder decoder_;
};

}  // namespace

std::unique_ptr<CodeFlow> make_code_flow(Arch arch) {
  switch (arch) {
    case Arch::kX86_64:
    case Arch::kI386:
      return std::make_unique<X86Flow>(arch);
    case Arch::kAArch64:
      return std::make_unique<LinkRegisterFlow<unwind::aarch64::Decoder, 4>>();
    case Arch::kRiscv64:
      return std::make_unique<LinkRegisterFlow<unwind::riscv64::Decoder, 2>>();
    case Arch::kUnknown:
      break;
  }
  return nullptr;
}

}  // namespace ringside::guestos
