#pragma once

#include <string_view>

#include "exporters/report/text_report.h"
#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/overhead.h"

namespace ringside::exporters {

inline constexpr std::string_view kInlined = " (inlined)";  // perf's word

// The rows of one section below a line of column names, and an empty line.
[[nodiscard]] Result<void> write_table(const profile::Profile& profile,
                                       const views::OverheadSection& section,
                                       const ReportOptions& options, Sink& sink);

}  // namespace ringside::exporters
