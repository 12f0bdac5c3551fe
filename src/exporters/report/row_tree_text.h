#pragma once

#include <string_view>

#include "exporters/report/text_report.h"
#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/overhead.h"
#include "views/row_trees.h"

namespace ringside::exporters {

inline constexpr std::string_view kInlined = " (inlined)";  // perf's word

// A row's tree in perf's lines, and an empty line; nothing where the tree has no line. Shares are
// of the section.
[[nodiscard]] Result<void> write_row_tree(const profile::Profile& profile,
                                          const views::OverheadSection& section,
                                          const views::OverheadRow& row, const views::RowTree& tree,
                                          const ReportOptions& options, Sink& sink);

}  // namespace ringside::exporters
