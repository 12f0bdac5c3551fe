#pragma once

#include <string>
#include <vector>

#include "app/open_profile.h"
#include "base/result.h"
#include "views/comparison/comparison.h"

namespace ringside::app {

// Compares the first of `inputs` with each of the others. `settings` hold for each; their own
// inputs do not matter. Says on standard error what is missing. Errors: an input that has no
// samples left, or whose values are of another nature, such as bytes.
[[nodiscard]] Result<std::vector<views::Comparison>> compare_recordings(
    const ReaderSettings& settings, const std::vector<std::string>& inputs);

// Compares the recordings of one build with those of another, at least three together. Otherwise as
// above.
[[nodiscard]] Result<views::Comparison> compare_builds(const ReaderSettings& settings,
                                                       const std::vector<std::string>& before,
                                                       const std::vector<std::string>& after);

}  // namespace ringside::app
