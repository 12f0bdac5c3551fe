#include "views/allocations/block_value.h"

#include <algorithm>
#include <iterator>

namespace ringside::views {
namespace {

profile::Weight weight_of(const BlockAmount& blocks, BlockMeasure measure) {
  return static_cast<profile::Weight>(measure == BlockMeasure::kSize ? blocks.size : blocks.count);
}

}  // namespace

std::optional<BlockValue> block_value_named(std::string_view name) {
  const auto found = std::find(kBlockValueNames.begin(), kBlockValueNames.end(), name);
  if (found == kBlockValueNames.end()) return std::nullopt;
  return static_cast<BlockValue>(std::distance(kBlockValueNames.begin(), found));
}

profile::Weight weight_of(const BlockSums& sums, BlockValue value, BlockMeasure measure) {
  switch (value) {
    case BlockValue::kLive:
      return weight_of(sums.live, measure);
    case BlockValue::kPeak:
      return weight_of(sums.peak, measure);
    case BlockValue::kAllocated:
      return weight_of(sums.allocated, measure);
    case BlockValue::kFreed:
      return weight_of(sums.freed, measure);
    case BlockValue::kOlder:
      return weight_of(sums.older, measure);
    case BlockValue::kGrowth:
      return weight_of(sums.live, measure) - weight_of(sums.before, measure);
  }
  return 0;
}

}  // namespace ringside::views
