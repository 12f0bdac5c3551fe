#include "unwind/x86/call_site.h"

namespace ringside::unwind::x86 {

bool follows_call(const elf::ElfFile& file, ImageAddr pc) {
  constexpr std::size_t kLongest = 7;
  constexpr std::size_t kDirect = 5;  // e8 and 32 bits
  const Bytes code = file.bytes_at({pc.value - kLongest}, kLongest);
  if (code.size() < kLongest) return false;
  if (code[kLongest - kDirect] == std::byte{0xe8}) return true;
  // ff /2 with a register; with memory: a SIB byte, a displacement of 1 or 4 bytes, or both (Intel
  // SDM volume 2, 2.1.5). A REX prefix stands before it.
  for (const std::size_t size : {2, 3, 4, 6, 7})
    if (code[kLongest - size] == std::byte{0xff} &&
        (code[kLongest - size + 1] & std::byte{0x38}) == std::byte{0x10})
      return true;
  return false;
}

}  // namespace ringside::unwind::x86
