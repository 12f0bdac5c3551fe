#pragma once

#include <string_view>

#include "base/result.h"
#include "views/allocations/time_span.h"

namespace ringside::app {

// A time as `option` has it: a number with the unit ns, us, ms or s, or without one. Error kUsage.
[[nodiscard]] Result<views::TimeSpan> parse_time_span(std::string_view option,
                                                      std::string_view text);

}  // namespace ringside::app
