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

}  // namespace ringside::unwind::link_register
