#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "exporters/report/report_column.h"
#include "exporters/sink.h"
#include "profile/profile.h"
#include "views/overhead.h"
#include "views/row_trees.h"

namespace ringside::exporters {

// Rows to show by their code, as perf's -d, -S and --symbol-filter choose them. Shares are of all
// samples. Empty: every row.
struct RowFilter {
  std::vector<std::string> images;   // by name, with brackets around it or without
  std::vector<std::string> symbols;  // whole names
  std::string part_of_symbol;

  [[nodiscard]] bool is_empty() const {
    return images.empty() && symbols.empty() && part_of_symbol.empty();
  }
  [[nodiscard]] bool has(const profile::Profile& profile, const views::OverheadRow& row) const;
};

struct ReportOptions {
  views::OverheadOptions overhead;  // sort, keys, per-vCPU sections
  std::vector<ReportColumn> columns = {ReportColumn::kOverhead, ReportColumn::kChildren,
                                       ReportColumn::kSamples, ReportColumn::kVcpu,
                                       ReportColumn::kSymbol};
  RowFilter filter;
  double minimum_percent = 0;    // rows below are summed up in one line
  std::size_t maximum_rows = 0;  // 0: all
  bool call_graph = false;       // a tree of calls under each row of all vCPUs
  views::RowTreeOptions trees;
  bool tree_has_row = true;  // false: the row's own line stands for the first one of its tree
  // Cells of the terminal that rows have to fit into: names are cut in the middle, and where there
  // is little room for them `columns` that show least are left out. 0: nothing is cut.
  std::size_t width = 0;
  bool may_leave_out_columns = true;  // false: `columns` is what the user asked for
  std::string separator;  // between columns, which are not padded then; empty: columns are padded
};

// `ringside report --stdio`: header lines with '#', the table of functions, one table per vCPU.
[[nodiscard]] Result<void> write_report(const profile::Profile& profile,
                                        const ReportOptions& options, Sink& sink);
// `report --header`: the machine, the guest, the command, the statistics; with `detail` how frames
// were found.
[[nodiscard]] Result<void> write_header(const profile::Profile& profile, Sink& sink,
                                        bool detail = false);
// A report's head without `--header`: what was lost or cut, if any, in words.
[[nodiscard]] Result<void> write_warnings(const profile::Profile& profile, Sink& sink);
// The numbers of views::Summary, for the end of `profile` and `record`.
[[nodiscard]] Result<void> write_summary(const profile::Profile& profile, Sink& sink);
// How many frames each source of unwinding rules gave, of all samples of the recording.
[[nodiscard]] Result<void> write_unwinding_detail(const profile::Profile& profile, Sink& sink);
// The `count` most frequent stacks, for `profile`.
[[nodiscard]] Result<void> write_top_stacks(const profile::Profile& profile, std::size_t count,
                                            Sink& sink);

}  // namespace ringside::exporters
