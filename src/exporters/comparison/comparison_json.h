#pragma once

#include <vector>

#include "base/result.h"
#include "exporters/comparison/comparison_options.h"
#include "exporters/sink.h"

namespace ringside::exporters {

// One JSON object with all functions: docs/comparing.md has its members.
[[nodiscard]] Result<void> write_json_comparisons(const std::vector<JudgedComparison>& comparisons,
                                                  const ComparisonOptions& options, Sink& sink);

}  // namespace ringside::exporters
