#include "cli/verbs/report_fields.h"

#include <algorithm>
#include <array>
#include <optional>
#include <regex>
#include <string_view>

namespace ringside::cli {
namespace {

using exporters::ReportColumn;
using views::SortKey;

// The library's matching is recursive.
constexpr std::size_t kMaxName = 2000;

struct Field {
  std::string_view name;
  ReportColumn column;
  std::optional<SortKey> key;  // absent: a number
};
constexpr std::array<Field, 14> kFields = {{{"overhead", ReportColumn::kOverhead, {}},
                                            {"overhead_children", ReportColumn::kChildren, {}},
                                            {"children", ReportColumn::kChildren, {}},
                                            {"sample", ReportColumn::kSamples, {}},
                                            {"comm", ReportColumn::kComm, SortKey::kComm},
                                            {"cgroup", ReportColumn::kCgroup, SortKey::kCgroup},
                                            {"pid", ReportColumn::kPid, SortKey::kPid},
                                            {"tid", ReportColumn::kTid, SortKey::kTid},
                                            {"vcpu", ReportColumn::kVcpu, SortKey::kVcpu},
                                            {"cpu", ReportColumn::kVcpu, SortKey::kVcpu},
                                            {"dso", ReportColumn::kDso, SortKey::kDso},
                                            {"symbol", ReportColumn::kSymbol, SortKey::kSymbol},
                                            {"sym", ReportColumn::kSymbol, SortKey::kSymbol},
                                            {"parent", ReportColumn::kParent, SortKey::kParent}}};

Result<const Field*> field_named(const std::string& name, const char* option) {
  const auto it = std::find_if(kFields.begin(), kFields.end(),
                               [&](const Field& field) { return field.name == name; });
  if (it != kFields.end()) return &*it;
  std::string known;
  for (const Field& field : kFields) known += (known.empty() ? "" : ", ") + std::string(field.name);
  return fail(ErrorCode::kUsage, "{} {}: give some of {}", option, name, known);
}

}  // namespace

Result<void> choose_columns(const std::vector<std::string>& sort,
                            const std::vector<std::string>& fields, bool knows_processes,
                            exporters::ReportOptions& options) {
  if (sort.empty() && fields.empty() && !knows_processes) return {};
  options.columns.clear();
  options.overhead.keys.clear();
  const auto add = [&](const Field& field) {
    if (std::find(options.columns.begin(), options.columns.end(), field.column) !=
        options.columns.end())
      return;
    options.columns.push_back(field.column);
    if (field.key) options.overhead.keys.push_back(*field.key);
  };
  const auto add_all = [&](const std::vector<std::string>& names,
                           const char* option) -> Result<void> {
    for (const std::string& name : names) {
      RINGSIDE_ASSIGN(const Field* field, field_named(name, option));
      add(*field);
    }
    return {};
  };
  if (fields.empty()) RINGSIDE_TRY(add_all({"overhead", "children", "sample"}, ""));
  RINGSIDE_TRY(add_all(fields, "-F"));
  if (fields.empty() && sort.empty()) return add_all({"comm", "dso", "symbol"}, "");
  return add_all(sort, "--sort");
}

Result<std::vector<bool>> find_parents(const profile::Profile& profile,
                                       const std::string& pattern) {
  std::vector<bool> parents;
  try {
    const std::regex expression(pattern, std::regex::extended);
    for (const profile::Function& function : profile.functions) {
      const std::string_view name = profile.strings[function.name].substr(0, kMaxName);
      parents.push_back(std::regex_search(name.begin(), name.end(), expression));
    }
  } catch (const std::regex_error&) {
    return fail(ErrorCode::kUsage, "-p {}: this is no regular expression", pattern);
  }
  return parents;
}

}  // namespace ringside::cli
