#pragma once

#include <optional>

#include "app/open_profile.h"
#include "base/result.h"
#include "profile/profile.h"

namespace ringside::app {

// Whether the input is folded text, by `settings.format` or by its contents.
[[nodiscard]] bool is_folded_input(const ReaderSettings& settings);

// The profile of an input that is folded text; nothing where it is another file. "-" is standard
// input. Errors: kUsage where an option asks for what such a text does not have.
[[nodiscard]] Result<std::optional<profile::Profile>> open_folded(const ReaderSettings& settings);

}  // namespace ringside::app
