#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exporters/report/text_report.h"
#include "profile/profile.h"

namespace ringside::cli {

// perf's pattern for the key `parent`, as its reports have it where -p is not given.
inline constexpr const char* kDefaultParent = "^sys_|^do_page_fault";

// The options that choose a report's columns, as perf takes them.
struct ColumnChoice {
  std::vector<std::string> sort;    // --sort; empty: not given
  std::vector<std::string> fields;  // -F; empty: not given
  bool children = false;
  bool no_children = false;
  bool samples = false;  // -n
  bool period = false;   // --show-total-period

  std::string time_quantum = "100ms";

  // How long each span of time is that rows are told apart by, in ns; 0: by none. Error kUsage,
  // also where the key `time` is not chosen.
  [[nodiscard]] Result<std::uint64_t> span_ns() const;
  [[nodiscard]] bool has(const std::string& field) const;
  [[nodiscard]] bool are_usual() const { return sort.empty() && fields.empty(); }
};

// Sets the columns of a table for people, and what it is sorted by. As in perf, rows are those of
// all functions that samples stand in, with the share of these and without, where there are stacks,
// unless `choice` is against it. Error kUsage.
[[nodiscard]] Result<void> choose_columns(const ColumnChoice& choice,
                                          const profile::Profile& profile,
                                          exporters::ReportOptions& options);

// The same of a table for programs: the sum without callees comes first, whatever there is.
[[nodiscard]] Result<void> choose_data_columns(const ColumnChoice& choice,
                                               const profile::Profile& profile,
                                               exporters::ReportOptions& options);

// Whether any stack has more than one function.
[[nodiscard]] bool has_callers(const profile::Profile& profile);

// Which functions `pattern` matches, by FunctionId. Error kUsage.
[[nodiscard]] Result<std::vector<bool>> find_parents(const profile::Profile& profile,
                                                     const std::string& pattern);

}  // namespace ringside::cli
