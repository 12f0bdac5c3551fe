#include "recording/mapping_table.h"

#include <iterator>

namespace ringside::recording {

void MappingTable::add(const Mapping& mapping) {
  const std::uint64_t start = mapping.start.value;
  const std::uint64_t end = mapping.end.value;
  if (start >= end) return;
  Ranges& ranges = spaces_[mapping.address_space];
  auto it = ranges.lower_bound(start);
  if (it != ranges.begin()) {
    auto before = std::prev(it);
    if (before->second.end > start) {
      if (before->second.end > end) ranges.emplace(end, before->second);
      before->second.end = start;
    }
  }
  it = ranges.lower_bound(start);
  while (it != ranges.end() && it->first < end) {
    if (it->second.end > end) ranges.emplace(end, it->second);
    it = ranges.erase(it);
  }
  ranges.emplace(start, Range{end, {mapping.id, mapping.image}});
}

std::optional<MappingTable::Place> MappingTable::find_in(std::uint64_t address_space,
                                                         GuestVirt address) const {
  const auto space = spaces_.find(address_space);
  if (space == spaces_.end()) return std::nullopt;
  auto it = space->second.upper_bound(address.value);
  if (it == space->second.begin()) return std::nullopt;
  --it;
  if (address.value >= it->second.end) return std::nullopt;
  return it->second.place;
}

std::optional<MappingTable::Place> MappingTable::find(std::uint64_t address_space,
                                                      GuestVirt address) const {
  if (address_space != 0)
    if (const auto place = find_in(address_space, address)) return place;
  return find_in(0, address);
}

}  // namespace ringside::recording
