#pragma once

#include <cstdint>

namespace ringside::engines::ring {

// How far a counter of a CPU's records can have got in `ns`: one that is further is damaged, or its
// guest is hostile. Far more than any CPU does, which needs a microsecond for a record.
[[nodiscard]] constexpr std::uint64_t most_records(std::uint64_t ns) {
  constexpr std::uint64_t kLeastNs = 50;
  constexpr std::uint64_t kAtOnce = 1 << 20;
  return kAtOnce + ns / kLeastNs;
}

// How much earlier than ringside has seen them a guest may have begun with its rings.
inline constexpr std::uint64_t kGuestsStartNs = 10'000'000'000;

}  // namespace ringside::engines::ring
