#pragma once

#include <cstddef>
#include <cstdint>

#include "profile/profile.h"

namespace ringside::profile {

enum class KeptFrames : std::uint8_t { kInnermost, kOutermost };

// Cuts each stack to `most` functions, 1 at least, with what is inlined into these and counts for
// none. An innermost function that a stack loses stays behind the others, as a frame that is beyond
// the limit. Groups that are equal then are one; where user code begins in a stack is not
// known afterwards (SampleGroup::user_part).
void limit_stacks(Profile& profile, std::size_t most, KeptFrames kept);

}  // namespace ringside::profile
