#pragma once

#include "base/result.h"

namespace ringside::cli {

// The kernels that ringside keeps decoded in the user's cache folder, on standard output.
void say_cache();
// Removes them, and says so.
[[nodiscard]] Result<void> clear_cache();

}  // namespace ringside::cli
