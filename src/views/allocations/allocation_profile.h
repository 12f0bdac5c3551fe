#pragma once

#include "profile/detailed_profile.h"
#include "profile/profile.h"
#include "views/allocations/allocations.h"
#include "views/allocations/block_value.h"

namespace ringside::views {

struct AllocationProfileOptions {
  BlockValue value = BlockValue::kLive;
  BlockMeasure measure = BlockMeasure::kSize;
  bool maestro_names = false;  // frames of no known function are "???"
};

// The blocks of one allocator as a profile: its weights are their sizes, in the allocator's unit,
// or how many they are. The stacks are those that have allocated them.
[[nodiscard]] profile::Profile make_allocation_profile(profile::DetailedProfile& details,
                                                       const Allocator& allocator,
                                                       const AllocationProfileOptions& options);

}  // namespace ringside::views
