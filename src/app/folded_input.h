#pragma once

#include <optional>

#include "app/open_profile.h"
#include "base/result.h"
#include "profile/profile.h"

namespace ringside::app {

// The profile of an input that is folded text, as `settings.format` says; nothing where it is
// another. Errors: kUsage where an option asks for what such a text does not have.
[[nodiscard]] Result<std::optional<profile::Profile>> open_folded(const ReaderSettings& settings);

}  // namespace ringside::app
