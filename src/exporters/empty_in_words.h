#pragma once

#include <string>

#include "profile/profile.h"

namespace ringside::exporters {

// Why the profile has no sample: a clause. Empty where it has one.
[[nodiscard]] std::string empty_in_words(const profile::Profile& profile);

// There is no sample, because most of the ticks that were due found their vCPU halted, and the
// others are lost.
[[nodiscard]] bool is_all_idle(const profile::Profile& profile);

}  // namespace ringside::exporters
