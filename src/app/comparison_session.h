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

}  // namespace ringside::app
