#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "profile/profile.h"
#include "views/allocations/live_set.h"

namespace ringside::views {

// Which blocks are looked at.
enum class BlockValue : std::uint8_t {
  kLive,       // at the end
  kPeak,       // when all live blocks together were largest
  kAllocated,  // in all
  kFreed,
  kOlder,   // live at the end, and older than a time that was given
  kGrowth,  // live at the end, without what was live at a moment that was given
};
inline constexpr std::array<std::string_view, 6> kBlockValueNames = {"live",  "peak",  "allocated",
                                                                     "freed", "older", "growth"};
[[nodiscard]] constexpr std::string_view name_of(BlockValue value) {
  return kBlockValueNames[static_cast<std::size_t>(value)];
}
// Nothing: it is no name.
[[nodiscard]] std::optional<BlockValue> block_value_named(std::string_view name);

// Whether their number or their size is looked at.
enum class BlockMeasure : std::uint8_t { kSize, kCount };

// Growth may be negative.
[[nodiscard]] profile::Weight weight_of(const BlockSums& sums, BlockValue value,
                                        BlockMeasure measure);

}  // namespace ringside::views
