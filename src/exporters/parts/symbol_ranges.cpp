#include "exporters/parts/symbol_ranges.h"

#include <algorithm>

namespace ringside::exporters {

std::uint64_t symbol_address(const profile::DetailedFrame& frame) {
  const bool is_behind =
      frame.symbol.size != 0 && frame.address - frame.symbol.start >= frame.symbol.size;
  return is_behind ? frame.lookup_address().value : frame.address.value;
}

void SymbolRanges::add(std::uint64_t address, std::uint64_t start, std::uint64_t size,
                       profile::StringId name) {
  if (address < free_ || address >= end_) return;  // the same address again
  const bool is_same = !symbols_.empty() && symbols_.back().name == name && last_start_ == start &&
                       last_size_ == size;
  const bool is_sized = size != 0 && address - start < size;
  if (is_same) {
    if (!is_sized) symbols_.back().end = address + 1;
  } else {
    const std::uint64_t from = is_sized ? std::max({start, free_, start_}) : address;
    const std::uint64_t left = is_sized ? size - (address - start) : 1;
    if (!symbols_.empty()) symbols_.back().end = std::min(symbols_.back().end, from);
    symbols_.push_back({from, address + std::min(left, end_ - address), name, address, address});
  }
  symbols_.back().last_frame = address;
  last_start_ = start;
  last_size_ = size;
  free_ = address + 1;
}

}  // namespace ringside::exporters
