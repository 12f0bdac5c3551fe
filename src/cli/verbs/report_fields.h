#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "exporters/report/text_report.h"
#include "profile/profile.h"

namespace ringside::cli {

// perf's pattern for the key `parent`, as its reports have it where -p is not given.
inline constexpr const char* kDefaultParent = "^sys_|^do_page_fault";

// Sets the columns for `report --sort KEYS -F FIELDS`, both as perf takes them; empty: not given.
// Without both: comm, dso and symbol where processes are known, else functions. Error kUsage.
[[nodiscard]] Result<void> choose_columns(const std::vector<std::string>& sort,
                                          const std::vector<std::string>& fields,
                                          bool knows_processes, exporters::ReportOptions& options);

// Which functions `pattern` matches, by FunctionId. Error kUsage.
[[nodiscard]] Result<std::vector<bool>> find_parents(const profile::Profile& profile,
                                                     const std::string& pattern);

}  // namespace ringside::cli
