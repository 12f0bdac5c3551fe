#include "cli/verbs/report_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <regex>
#include <string_view>

#include "app/settings/time_span.h"
#include "recording/of_perf.h"

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
constexpr std::array<Field, 26> kFields = {
    {{"overhead", ReportColumn::kOverhead, {}},
     {"overhead_children", ReportColumn::kChildren, {}},
     {"children", ReportColumn::kChildren, {}},
     {"overhead_sys", ReportColumn::kSys, {}},
     {"sys", ReportColumn::kSys, {}},
     {"overhead_us", ReportColumn::kUser, {}},
     {"us", ReportColumn::kUser, {}},
     {"overhead_guest_sys", ReportColumn::kGuestSys, {}},
     {"overhead_guest_us", ReportColumn::kGuestUser, {}},
     {"sample", ReportColumn::kSamples, {}},
     {"period", ReportColumn::kPeriod, {}},
     {"comm", ReportColumn::kComm, SortKey::kComm},
     {"cgroup", ReportColumn::kCgroup, SortKey::kCgroup},
     {"pid", ReportColumn::kTask, SortKey::kTask},
     {"tid", ReportColumn::kTid, SortKey::kTask},
     {"tgid", ReportColumn::kPid, SortKey::kPid},
     {"vcpu", ReportColumn::kVcpu, SortKey::kVcpu},
     {"cpu", ReportColumn::kVcpu, SortKey::kVcpu},
     {"srcline", ReportColumn::kSourceLine, SortKey::kSourceLine},
     {"time", ReportColumn::kTime, SortKey::kTime},
     {"dso", ReportColumn::kDso, SortKey::kDso},
     {"symbol", ReportColumn::kSymbol, SortKey::kSymbol},
     {"sym", ReportColumn::kSymbol, SortKey::kSymbol},
     {"parent", ReportColumn::kParent, SortKey::kParent},
     {"self", ReportColumn::kOverhead, {}},
     {"samples", ReportColumn::kSamples, {}}}};
// In a table for programs.
constexpr std::array<Field, 2> kDataFields = {
    {{"pid", ReportColumn::kPid, SortKey::kPid}, {"tid", ReportColumn::kTid, SortKey::kTid}}};
enum class Table { kText, kData };

// Fields of perf's that are not columns here.
struct OtherField {
  std::string_view name;
  std::string_view answer;
};
constexpr std::array<OtherField, 2> kOtherFields = {
    {{"guest", "overhead_guest_sys and overhead_guest_us are the columns"},
     {"srcfile", "srcline has the files, with the lines"}}};

Result<const Field*> field_named(const std::string& name, const char* option, Table table) {
  const auto is_named = [&](const Field& field) { return field.name == name; };
  const auto in_data = std::find_if(kDataFields.begin(), kDataFields.end(), is_named);
  if (table == Table::kData && in_data != kDataFields.end()) return &*in_data;
  const auto it = std::find_if(kFields.begin(), kFields.end(), is_named);
  if (it != kFields.end()) return &*it;
  for (const OtherField& other : kOtherFields)
    if (other.name == name) return fail(ErrorCode::kUsage, "{} {}: {}", option, name, other.answer);
  std::string known;
  for (const Field& field : kFields) known += (known.empty() ? "" : ", ") + std::string(field.name);
  return fail(ErrorCode::kUsage, "{} {}: give some of {}", option, name, known);
}

using Names = std::vector<std::string>;

// The columns of a guest's guests. It is not determined whose code of unknown privilege is, nor
// what others recorded.
Result<void> check_guest(ReportColumn column, const profile::Profile& profile) {
  if (column != ReportColumn::kGuestSys && column != ReportColumn::kGuestUser) return {};
  const bool has_guests = std::any_of(
      profile.owners.begin(), profile.owners.end(),
      [](const profile::Owner& owner) { return owner.level == PrivilegeLevel::kGuest; });
  if (has_guests || recording::is_of_perf(profile.header) || !profile.input.empty())
    return fail(ErrorCode::kUsage,
                "-F: the input has no parts of guests in the kernel and in user code, so "
                "overhead_guest_sys and overhead_guest_us are not possible");
  return {};
}

// Appends columns to a report's, each once.
class Columns {
 public:
  Columns(exporters::ReportOptions& options, Table table) : options_(options), table_(table) {
    options_.columns.clear();
    options_.overhead.keys.clear();
  }
  [[nodiscard]] bool has(ReportColumn column) const {
    return std::find(options_.columns.begin(), options_.columns.end(), column) !=
           options_.columns.end();
  }
  void add(ReportColumn column) {
    if (!has(column)) options_.columns.push_back(column);
  }
  Result<void> add(const Names& names, const char* option, const profile::Profile& profile) {
    for (const std::string& name : names) {
      RINGSIDE_ASSIGN(const Field* field, field_named(name, option, table_));
      if (has(field->column)) continue;
      RINGSIDE_TRY(check_guest(field->column, profile));
      add(field->column);
      if (field->key) options_.overhead.keys.push_back(*field->key);
    }
    return {};
  }

 private:
  exporters::ReportOptions& options_;
  Table table_;
};

Names usual_keys(const profile::Profile& profile) {
  return profile.knows_processes ? Names{"comm", "dso", "symbol"} : Names{"dso", "symbol"};
}

}  // namespace

bool ColumnChoice::has(const std::string& field) const {
  return std::find(sort.begin(), sort.end(), field) != sort.end() ||
         std::find(fields.begin(), fields.end(), field) != fields.end();
}

Result<std::uint64_t> ColumnChoice::span_ns() const {
  RINGSIDE_ASSIGN(const auto quantum, app::parse_time_span("--time-quantum", time_quantum));
  const double ns = quantum.number * quantum.unit_seconds * 1e9;
  if (!(ns >= 1 && ns <= 1e18))
    return fail(ErrorCode::kUsage, "--time-quantum {}: give a time such as 100ms or 1s",
                time_quantum);
  return has("time") ? static_cast<std::uint64_t>(std::llround(ns)) : 0;
}

bool has_callers(const profile::Profile& profile) {
  for (profile::NodeId id = 1; id < profile.stacks.size(); ++id)
    if (profile.stacks[id].parent != profile::kNoNode) return true;
  return false;
}

Result<void> choose_columns(const ColumnChoice& choice, const profile::Profile& profile,
                            exporters::ReportOptions& options) {
  using Sort = views::OverheadOptions::Sort;
  Columns columns(options, Table::kText);
  const bool children = !choice.no_children && (choice.children || has_callers(profile));
  options.trees.with_callees = children;
  if (!choice.fields.empty()) {
    RINGSIDE_TRY(columns.add(choice.fields, "-F", profile));
    // The first of both is what rows are sorted by.
    const auto first =
        std::find_if(options.columns.begin(), options.columns.end(), [](ReportColumn column) {
          return column == ReportColumn::kOverhead || column == ReportColumn::kChildren;
        });
    const bool by_total = first != options.columns.end() && *first == ReportColumn::kChildren;
    options.overhead.sort = by_total ? Sort::kTotal : Sort::kSelf;
    return columns.add(choice.sort, "--sort", profile);
  }
  options.overhead.sort = children ? Sort::kTotal : Sort::kSelf;
  if (children) columns.add(ReportColumn::kChildren);
  columns.add(children ? ReportColumn::kSelf : ReportColumn::kOverhead);
  if (choice.samples) columns.add(ReportColumn::kSamples);
  if (choice.period) columns.add(ReportColumn::kPeriod);
  if (choice.sort.empty()) return columns.add(usual_keys(profile), "", profile);
  return columns.add(choice.sort, "--sort", profile);
}

Result<void> choose_data_columns(const ColumnChoice& choice, const profile::Profile& profile,
                                 exporters::ReportOptions& options) {
  using Sort = views::OverheadOptions::Sort;
  options.overhead.sort = choice.children ? Sort::kTotal : Sort::kSelf;
  Columns columns(options, Table::kData);
  if (choice.fields.empty())
    RINGSIDE_TRY(columns.add({"overhead", "children", "sample"}, "", profile));
  if (choice.period) columns.add(ReportColumn::kPeriod);
  RINGSIDE_TRY(columns.add(choice.fields, "-F", profile));
  if (!choice.are_usual()) return columns.add(choice.sort, "--sort", profile);
  return columns.add(profile.knows_processes ? usual_keys(profile) : Names{"symbol"}, "", profile);
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
