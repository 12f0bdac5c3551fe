#pragma once

#include <cstddef>

#include "profile/profile.h"

namespace ringside::profile {

// Cuts each stack to its `most` innermost functions, 1 at least, with what is inlined into these
// and counts for none. Groups that are equal then are one; where user code begins in a stack is not
// known afterwards (SampleGroup::user_part).
void limit_stacks(Profile& profile, std::size_t most);

}  // namespace ringside::profile
