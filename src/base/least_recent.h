#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside {

// Forgets the half of a map that was used longest ago. Its values have a `last_use`, which grows
// from use to use.
template <class Map>
void forget_least_recent(Map& map) {
  if (map.empty()) return;
  std::vector<std::uint64_t> uses;
  for (const auto& [key, value] : map) uses.push_back(value.last_use);
  const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
  std::nth_element(uses.begin(), middle, uses.end());
  const std::uint64_t limit = *middle;
  std::erase_if(map, [limit](const auto& entry) { return entry.second.last_use < limit; });
}

}  // namespace ringside
