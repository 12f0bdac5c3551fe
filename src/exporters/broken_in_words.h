#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace ringside::exporters {

// Defects of the recording's stacks and what to do about them, one sentence for each: the kernel's
// part, the user part, and user code of which only the address is known. Empty where nineteen in
// twenty of each are complete, and where a filter left samples out.
[[nodiscard]] std::vector<std::string> broken_in_words(const profile::Profile& profile);

}  // namespace ringside::exporters
