#pragma once

#include <cstddef>

#include "profile/detailed_profile.h"

namespace ringside::exporters {

// Calls `visit(frame, i)` for each function of a group's stack, innermost first: it is
// frame.functions[i], and where a frame has several those behind it are inlined into it.
template <class Visit>
void for_each_function(profile::DetailedProfile& profile, std::uint32_t group, Visit&& visit) {
  for (const profile::StackEntry& entry : profile.stack_of(group)) {
    const profile::DetailedFrame frame = profile.frame(entry);
    for (std::size_t i = frame.functions.size(); i-- > 0;) visit(frame, i);
  }
}

}  // namespace ringside::exporters
