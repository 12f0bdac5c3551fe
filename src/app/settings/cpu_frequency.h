#pragma once

#include <string>

#include "base/result.h"

namespace ringside::app {

// Ticks a second of a counter, from the GHz of --cpu-freq. Error kUsage.
[[nodiscard]] Result<double> parse_cpu_frequency(const std::string& text);

}  // namespace ringside::app
