#pragma once

#include <cstddef>
#include <vector>

#include "exporters/report/text_report.h"
#include "views/overhead.h"

namespace ringside::exporters {

// The rows of a section that a report shows. Rows that are too small, or too many, are summed up.
struct RowChoice {
  RowChoice(const views::OverheadSection& section, const ReportOptions& options);

  std::vector<const views::OverheadRow*> shown;
  views::OverheadRow rest;   // its own weight and samples alone
  std::size_t left_out = 0;  // rows in `rest`
};

}  // namespace ringside::exporters
