#pragma once

#include "profile/profile.h"
#include "profile/stack_forest.h"

namespace ringside::profile {

// Gives a profile its tree of stacks. On entry the groups in `profile.samples` name nodes of
// `forest`, in any order; afterwards nodes of `profile.stacks`, and groups that are equal now are
// one. Counts the profile's frames.
void adopt_stacks(StackForest&& forest, Profile& profile);

}  // namespace ringside::profile
