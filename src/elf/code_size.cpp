#include "elf/code_size.h"

#include <algorithm>

namespace ringside::elf {

std::uint64_t code_size(const ElfFile& file) {
  std::uint64_t low = ~std::uint64_t{0};
  std::uint64_t high = 0;
  for (const Segment& segment : file.segments()) {
    if (!segment.executable) continue;
    low = std::min(low, segment.address.value);
    high = std::max(high, segment.address.value + segment.memory_size);
  }
  return low > high ? 0 : high - low;
}

}  // namespace ringside::elf
