#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>

#include "recording/records.h"

namespace ringside::recording {

// Which mapping an address belongs to, now. A new mapping cuts what it overlaps out of older ones
// of its address space.
class MappingTable {
 public:
  struct Place {
    std::uint32_t mapping = 0;
    std::uint32_t image = 0;
    bool operator==(const Place&) const = default;
  };
  void add(const Mapping& mapping);
  // Nothing is mapped any more.
  void clear() { spaces_.clear(); }
  // Whether find() gives for `address_space` what it gives for 0.
  [[nodiscard]] bool has_none_of(std::uint64_t address_space) const {
    return !spaces_.contains(address_space);
  }
  // Looks in `address_space`, then among the mappings of all address spaces.
  [[nodiscard]] std::optional<Place> find(std::uint64_t address_space, GuestVirt address) const;

 private:
  struct Range {
    std::uint64_t end;
    Place place;
  };
  using Ranges = std::map<std::uint64_t, Range>;  // by start, disjoint
  [[nodiscard]] std::optional<Place> find_in(std::uint64_t address_space, GuestVirt address) const;

  std::unordered_map<std::uint64_t, Ranges> spaces_;
};

}  // namespace ringside::recording
