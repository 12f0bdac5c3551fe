#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside::elf {

// Bytes of a symbol of a list that is sorted by address: a label, which has no size, reaches to the
// next address that has a symbol. 0 where there is none.
template <class Symbol>
[[nodiscard]] std::uint64_t extent_of(const std::vector<Symbol>& symbols, std::size_t i) {
  std::uint64_t size = symbols[i].size;
  for (std::size_t next = i + 1; size == 0 && next < symbols.size(); ++next)
    size = symbols[next].address - symbols[i].address;
  return size;
}

}  // namespace ringside::elf
