#pragma once

#include "base/result.h"

namespace ringside::app {

struct RecordRequest;

// Error kUsage if what is asked for makes no sense together, or no guest is named.
[[nodiscard]] Result<void> check_usage(const RecordRequest& request);

}  // namespace ringside::app
