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

// Repetitions of each would give the same samples, and what QEMU was given differs at most in the
// files of kernel and initramfs and in those that QEMU writes.
[[nodiscard]] bool are_of_one_run(const recording::Header& before, const recording::Header& after);

}  // namespace ringside::views
