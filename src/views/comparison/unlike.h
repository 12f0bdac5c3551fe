#pragma once

#include <string>
#include <vector>

#include "views/comparison/sampled_functions.h"

namespace ringside::views {

// How two recordings were made in unlike ways, such as "engine tcg and gdb": their shares may
// differ for that alone. Something that one of them
// does not have is no difference.
[[nodiscard]] std::vector<std::string> unlikeness(const SampledFunctions& before,
                                                  const SampledFunctions& after);

}  // namespace ringside::views
