#pragma once

#include <cstdint>

#include "base/dense_table.h"

namespace ringside::profile {

// The group of samples that a filter leaves out.
inline constexpr std::uint32_t kNoGroup = 0xffffffff;

// Whose samples, and of which stack.
struct GroupKey {
  std::uint32_t owner = 0;
  std::uint32_t base = 0;  // the stack that `part` stands on: PartLists
  std::uint32_t part = 0;  // a recorded leaf
  bool operator==(const GroupKey&) const = default;
};

// Samples of one owner and one stack, summed up.
struct CollectedGroup {
  GroupKey key;
  std::uint64_t weight = 0;
  std::uint64_t samples = 0;
};

struct GroupHash {
  std::uint64_t operator()(const GroupKey& key) const {
    return mixed((std::uint64_t{key.base} << 32 | key.part) ^ mixed(key.owner));
  }
};

using GroupTable = DenseTable<GroupKey, CollectedGroup, GroupHash>;

}  // namespace ringside::profile
