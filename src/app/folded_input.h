#pragma once

#include <optional>

#include "app/open_profile.h"
#include "base/result.h"
#include "profile/profile.h"

namespace ringside::app {

// The profile of an input that is folded text, by its contents or by `settings.format`; nothing
// where it is another file. "-" is standard input. Errors: kUsage where an option asks for what
// such a text does not have.
[[nodiscard]] Result<std::optional<profile::Profile>> open_folded(const ReaderSettings& settings);

}  // namespace ringside::app
