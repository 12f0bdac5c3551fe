#pragma once

#include <string>

#include "base/result.h"

namespace ringside::cli {

// `doctor -i`: how complete a recording's stacks are, part by part, what is wrong and what to do.
[[nodiscard]] Result<void> say_recording(const std::string& input);

// A line of doctor's: what, and what is to be said of it.
void say_of(const std::string& what, const std::string& is);

}  // namespace ringside::cli
