#include "unwind/link_register/call_site.h"

#include <algorithm>
#include <array>

namespace ringside::unwind::link_register {

bool follows_call(const elf::ElfFile& file, ImageAddr pc, const Decoder& decoder) {
  constexpr std::array<std::uint64_t, 2> kSizes = {4, 2};
  return std::any_of(kSizes.begin(), kSizes.end(), [&](std::uint64_t size) {
    const ImageAddr call{pc.value - size};
    const Instruction instruction = decoder.decode(file.bytes_at(call, size), call);
    return instruction.operation == Operation::kCall && instruction.size == size;
  });
}

}  // namespace ringside::unwind::link_register
