#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace ringside::views {

// The order of a profile's stacks as lines of text, "outermost;…;leaf", by their bytes, without the
// lines: 4 bytes for each node of the stack tree.
class LineOrder {
 public:
  explicit LineOrder(const profile::Profile& profile);

  // Where the line of the stack with that leaf comes; kNoNode: the line profile::kIdleName. Stacks
  // of the same line have the same place.
  [[nodiscard]] std::uint32_t place(profile::NodeId leaf) const { return places_[leaf]; }

 private:
  std::vector<std::uint32_t> places_;  // by node
};

}  // namespace ringside::views
