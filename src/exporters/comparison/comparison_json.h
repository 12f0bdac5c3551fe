#pragma once

#include <vector>

#include "base/result.h"
#include "exporters/comparison/comparison_options.h"
#include "exporters/sink.h"
#include "views/comparison/limit.h"

namespace ringside::exporters {

// Comparisons of one profile with others, and what went beyond a limit of each.
struct JudgedComparison {
  views::Comparison comparison;
  std::vector<views::LimitBreach> breaches;
};

// One JSON object with all functions: docs/comparing.md has its members.
[[nodiscard]] Result<void> write_json_comparisons(const std::vector<JudgedComparison>& comparisons,
                                                  const ComparisonOptions& options, Sink& sink);

}  // namespace ringside::exporters
