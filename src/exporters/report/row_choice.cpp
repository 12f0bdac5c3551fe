#include "exporters/report/row_choice.h"

#include <algorithm>
#include <string_view>

namespace ringside::exporters {
namespace {

std::string_view without_brackets(std::string_view name) {
  const bool has_them = name.size() > 2 && name.front() == '[' && name.back() == ']';
  return has_them ? name.substr(1, name.size() - 2) : name;
}

}  // namespace

bool RowFilter::has(const profile::Profile& profile, const views::OverheadRow& row) const {
  const std::string_view image = without_brackets(profile.strings[row.image]);
  const std::string_view symbol =
      row.function ? profile.strings[profile.functions[*row.function].name] : std::string_view();
  const auto is_image = [&](const std::string& name) {
    const std::string_view wanted = without_brackets(name);
    return wanted == image || (image == "kernel" && wanted == "kernel.kallsyms");
  };
  return (images.empty() || std::any_of(images.begin(), images.end(), is_image)) &&
         (symbols.empty() || std::find(symbols.begin(), symbols.end(), symbol) != symbols.end()) &&
         symbol.find(part_of_symbol) != std::string_view::npos;
}

RowChoice::RowChoice(const profile::Profile& profile, const views::OverheadSection& section,
                     const ReportOptions& options) {
  const bool by_self = options.overhead.sort == views::OverheadOptions::Sort::kSelf;
  for (const views::OverheadRow& row : section.rows) {
    // A function that was only called has nothing to show there, as in perf.
    if (!options.trees.with_callees && row.self == 0 && row.self_samples == 0) continue;
    if (!options.filter.is_empty() && !options.filter.has(profile, row)) continue;
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
