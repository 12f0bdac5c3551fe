#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"

namespace ringside::views {

struct TopStack {
  std::vector<profile::FrameId> frames;  // leaf first
  profile::StringId comm = 0;            // whose stack; 0 where the profile knows no processes
  profile::Weight weight = 0;
  double share = 0;  // of what was sampled, 0 to 1
};

// The `count` heaviest stacks of the samples, all vCPUs and all processes of a name together, the
// heaviest first.
[[nodiscard]] std::vector<TopStack> make_top_stacks(const profile::Profile& profile,
                                                    std::size_t count);

}  // namespace ringside::views
