#pragma once

#include "exporters/report/text_report.h"
#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/overhead.h"
#include "views/row_trees.h"

namespace ringside::exporters {

// The rows of one section below a line of column names, and an empty line. With `trees`, which are
// of that section, each row's under it.
[[nodiscard]] Result<void> write_table(const profile::Profile& profile,
                                       const views::OverheadSection& section,
                                       const ReportOptions& options, const views::RowTrees* trees,
                                       Sink& sink);

}  // namespace ringside::exporters
