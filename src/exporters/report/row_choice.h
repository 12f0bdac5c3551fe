#pragma once

#include <cstddef>
#include <vector>

#include "exporters/report/text_report.h"
#include "profile/profile.h"
#include "views/overhead.h"

namespace ringside::exporters {

// The rows of a section that a report shows, of those that the filter has: without callees, only
// those that have time of their own. Rows that are too small, or too many,
// are summed up.
struct RowChoice {
  RowChoice(const profile::Profile& profile, const views::OverheadSection& section,
            const ReportOptions& options);

  std::vector<const views::OverheadRow*> shown;
  views::OverheadRow rest;   // its own weight and samples alone
  std::size_t left_out = 0;  // rows in `rest`
};

}  // namespace ringside::exporters
