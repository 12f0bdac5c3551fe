#pragma once

#include "base/result.h"
#include "exporters/comparison/comparison_options.h"
#include "exporters/sink.h"

namespace ringside::exporters {

// A table for people: a head of comments, and a row for each function.
[[nodiscard]] Result<void> write_text_comparison(const views::Comparison& comparison,
                                                 const ComparisonOptions& options, Sink& sink);

// The same as a table of GitHub's Markdown, for the text of a pull request. Functions whose change
// is not sure are folded away.
[[nodiscard]] Result<void> write_markdown_comparison(const JudgedComparison& judged,
                                                     const ComparisonOptions& options, Sink& sink);

}  // namespace ringside::exporters
