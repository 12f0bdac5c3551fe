#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace ringside::cli {

// Turns the command line of a program that ringside takes the place of into one of ringside's own:
// "redox-kprofiling FILE NM OPTIONS GHZ" into an export, "help COMMAND" into "COMMAND --help",
// "version" into "--version", and words of `perf report` whose value may be missing: -g with or
// without its mode, "-x," for a separator. Other words stay. Error kUsage where there are too few
// words or too many.
[[nodiscard]] Result<void> respell(std::vector<std::string>& words);

}  // namespace ringside::cli
