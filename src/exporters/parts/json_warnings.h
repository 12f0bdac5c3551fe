#pragma once

#include <string>

#include "profile/profile.h"

namespace ringside::exporters {

// The damage of a recording, the warnings of its writer, and what the reader left out, as the
// members of a list in JSON, without its brackets.
[[nodiscard]] std::string json_warnings(const profile::Profile& profile);

}  // namespace ringside::exporters
