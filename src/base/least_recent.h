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

// Forgets half by half until the values take no more than `max_bytes`. `bytes_of` is the size of
// one. The value used last stays, however large it is.
template <class Map, class BytesOf>
void forget_beyond(Map& map, std::size_t max_bytes, BytesOf bytes_of) {
  const auto sum = [&] {
    std::size_t bytes = 0;
    for (const auto& [key, value] : map) bytes += bytes_of(value);
    return bytes;
  };
  while (map.size() > 1 && sum() > max_bytes) forget_least_recent(map);
}

}  // namespace ringside
