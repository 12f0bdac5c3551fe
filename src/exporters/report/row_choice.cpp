#include "exporters/report/row_choice.h"

namespace ringside::exporters {

RowChoice::RowChoice(const views::OverheadSection& section, const ReportOptions& options) {
  const bool by_self = options.overhead.sort == views::OverheadOptions::Sort::kSelf;
  for (const views::OverheadRow& row : section.rows) {
    const std::uint64_t weight = profile::extent_of(by_self ? row.self : row.total);
    const bool is_small = static_cast<double>(weight) * 100 <
                          options.minimum_percent * static_cast<double>(section.extent);
    if (is_small || (options.maximum_rows != 0 && shown.size() >= options.maximum_rows)) {
      rest.self += row.self;
      rest.self_samples += row.self_samples;
      ++left_out;
    } else {
      shown.push_back(&row);
    }
  }
}

}  // namespace ringside::exporters
