#pragma once

#include <string>
#include <vector>

#include "profile/profile.h"

namespace ringside::exporters {

// One sentence each of what a bound has cut: stacks that are deeper than the unwinder goes, and
// what the reader left out. Empty where nothing was cut.
[[nodiscard]] std::vector<std::string> cut_in_words(const profile::Profile& profile);

// Caveats for the reader of any view: bent_in_words() and lost_in_words(), if they are not empty,
// and cut_in_words().
[[nodiscard]] std::vector<std::string> all_in_words(const profile::Profile& profile);

}  // namespace ringside::exporters
