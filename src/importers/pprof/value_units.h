#pragma once

#include <string>
#include <string_view>

#include "recording/sources.h"

namespace ringside::importers::pprof {

// The values that a sample type of pprof stands for, by its name and its unit in words, as pprof's
// own report understands them (internal/measurement): "nanoseconds", "ms", "kilobytes" …; a
// kilobyte has 1024 bytes. Units that are no time and no size are counts.
[[nodiscard]] recording::ValueType value_type_of(std::string_view name, std::string_view unit);

}  // namespace ringside::importers::pprof
