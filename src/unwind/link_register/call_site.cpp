#include "unwind/link_register/call_site.h"

#include <array>

namespace ringside::unwind::link_register {

std::optional<Instruction> call_before(const elf::ElfFile& file, ImageAddr pc,
                                       const Decoder& decoder) {
  constexpr std::array<std::uint64_t, 2> kSizes = {4, 2};
  for (const std::uint64_t size : kSizes) {
    const ImageAddr call{pc.value - size};
    Instruction instruction = decoder.decode(file.bytes_at(call, size), call);
    if (instruction.operation != Operation::kCall || instruction.size != size) continue;
    const ImageAddr before{call.value - kSizes.front()};
    const Instruction set = decoder.decode(file.bytes_at(before, kSizes.front()), before);
    const bool sets = set.operation == Operation::kSet && set.a == instruction.b;
    if (!instruction.target && instruction.b != kNoRegister && sets)
      instruction.target = ImageAddr{static_cast<std::uint64_t>(set.value + instruction.value)};
    return instruction;
  }
  return std::nullopt;
}

bool follows_call(const elf::ElfFile& file, ImageAddr pc, const Decoder& decoder) {
  return call_before(file, pc, decoder).has_value();
}

// At each place where an instruction may begin, for data may lie between functions.
bool has_direct_call(const elf::ElfFile& file, ImageAddr function, const Decoder& decoder) {
  constexpr std::size_t kLongest = 4;
  const std::size_t step = file.arch() == Arch::kRiscv64 ? 2 : 4;
  for (const elf::CodeRange& code : file.code())
    for (std::size_t at = 0; at + 2 <= code.bytes.size(); at += step) {
      const ImageAddr address = code.address + at;
      const Instruction here = decoder.decode(code.bytes.subspan(at), address);
      if ((here.operation == Operation::kCall || here.operation == Operation::kJump) &&
          here.target == function)
        return true;
      // riscv64: auipc, then jalr.
      if (here.operation != Operation::kSet || at + 2 * kLongest > code.bytes.size()) continue;
      const Instruction next =
          decoder.decode(code.bytes.subspan(at + kLongest), address + kLongest);
      const bool goes =
          next.operation == Operation::kCall || next.operation == Operation::kJumpIndirect;
      const auto to = static_cast<std::uint64_t>(here.value + next.value);
      if (goes && next.b == here.a && ImageAddr{to} == function) return true;
    }
  return false;
}

}  // namespace ringside::unwind::link_register
