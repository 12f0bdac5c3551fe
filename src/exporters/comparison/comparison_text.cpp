#include "exporters/comparison/comparison_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "exporters/report/report_layout.h"
#include "profile/sanitize.h"

namespace ringside::exporters {
namespace {

using views::ComparedFunction;
using views::ComparedShare;
using views::Comparison;
using views::Verdict;

std::vector<Layout> columns() {
  return {{"Before", 8, true},   {"After", 8, true, 4}, {"Change", 8, true},
          {"+/-", 6, true, 3},   {"p", 7, true, 2},     {"Verdict", 11, false, 5},
          {"Kind", 9, false, 1}, {"Symbol", 14}};
}

std::optional<Colour> colour_of(Verdict verdict) {
  if (!views::is_sure(verdict)) return std::nullopt;
  return verdict == Verdict::kGrew || verdict == Verdict::kNew ? Colour::kRed : Colour::kGreen;
}

void make_row(const ComparedFunction& function, const ComparisonOptions& options, Row& row) {
  const ComparedShare& share = function.share(options.with_callees);
  const Verdict verdict = views::verdict_of(share, options.chance);
  const bool is_tested = views::is_tested(verdict) && !share.is_exact;
  row.clear();
  row.add().text = share_text(share.before);
  row.add().text = share_text(share.after);
  Cell& change = row.add();
  change.text = change_text(share);
  change.colour = colour_of(verdict);
  row.add().text = is_tested ? margin_text(share) : "";
  row.add().text = is_tested ? chance_text(share.corrected_p) : "";
  row.add().text = views::name_of(verdict);
  row.add().text = profile::name_of(function.kind);
  Cell& symbol = row.add();
  symbol.text = function.name;
  if (!function.image.empty()) symbol.tail = "  [" + function.image + "]";
}

void make_rest(std::size_t left_out, std::size_t columns, Row& row) {
  row.clear();
  row.pad(columns);
  row[columns - 1].text = "(" + count_of(left_out, "more function") + ")";
}

Result<void> write_head(const Comparison& comparison, const ComparisonOptions& options,
                        Sink& sink) {
  RINGSIDE_TRY(sink.write("# " + side_in_words("Before:", comparison.before) + "\n"));
  RINGSIDE_TRY(sink.write("# " + side_in_words("After: ", comparison.after) + "\n"));
  if (!comparison.unlike.empty())
    RINGSIDE_TRY(sink.write(
        fmt::format("# The recordings are unlike: {}\n", fmt::join(comparison.unlike, "; "))));
  return sink.write(fmt::format("# Shares are of all samples, {} callees. Test: {}\n#\n",
                                options.with_callees ? "with" : "without",
                                test_in_words(comparison, options)));
}

// As code, which GitHub shows as it is: no mentions, links or emoji. The fence has more backticks
// than any run of them in the text. A table ends a cell at a bar, in code too.
std::string code(std::string_view text) {
  std::size_t longest = 0;
  std::size_t run = 0;
  std::string safe;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (c == '|') safe += '\\';
    safe += c;
  }
  const std::string fence(longest + 1, '`');
  const char* const space = longest == 0 ? "" : " ";
  return fence + space + safe + space + fence;
}

std::string function_code(const ComparedFunction& function) {
  return code(function.name) +
         (function.image.empty() ? "" : " " + code("[" + function.image + "]"));
}

std::string markdown_row(const ComparedFunction& function, const ComparisonOptions& options) {
  const ComparedShare& share = function.share(options.with_callees);
  const Verdict verdict = views::verdict_of(share, options.chance);
  const bool is_tested = views::is_tested(verdict) && !share.is_exact;
  const std::string change = change_text(share);
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", function_code(function),
                     share_text(share.before), share_text(share.after),
                     views::is_sure(verdict) ? "**" + change + "**" : change,
                     is_tested ? "±" + margin_text(share) : "",
                     is_tested ? chance_text(share.corrected_p) : "", views::name_of(verdict));
}

std::string markdown_side(const char* which, const views::ComparedSide& side) {
  return fmt::format("{} {}, {}{}{}", which, code(inputs_in_words(side)), samples_in_words(side),
                     time_in_words(side),
                     side.kernel.empty() ? "" : ", kernel " + code(profile::sanitize(side.kernel)));
}

std::string markdown_breaches(const std::vector<views::LimitBreach>& breaches) {
  std::string text;
  for (const views::LimitBreach& breach : breaches) {
    if (!breach.is_sure) continue;
    const ComparedShare& share = breach.function->share(breach.limit->has_name());
    text +=
        fmt::format("* Limit {} is passed: {} went from {} to {}.\n",
                    code(profile::sanitize(breach.limit->text)), function_code(*breach.function),
                    share_text(share.before), share_text(share.after));
  }
  return text.empty() ? text : text + "\n";
}

constexpr std::string_view kMarkdownHeading =
    "| Function | Before | After | Change | 95 % | p | Verdict |\n"
    "|---|---:|---:|---:|---:|---:|---|\n";

}  // namespace

Result<void> write_text_comparison(const Comparison& comparison, const ComparisonOptions& options,
                                   Sink& sink) {
  const ChosenFunctions chosen(comparison, options);
  std::vector<Layout> layouts = columns();
  const std::size_t mark = kMark.size();
  Row row;
  const auto make = [&](std::size_t index) {
    if (index < chosen.shown.size())
      make_row(*chosen.shown[index], options, row);
    else
      make_rest(chosen.left_out, layouts.size(), row);
  };
  const std::size_t count = chosen.shown.size() + (chosen.left_out == 0 ? 0 : 1);
  for (std::size_t i = 0; i < count; ++i) {
    make(i);
    measure(row, layouts);
  }
  widen(layouts);
  if (options.width != 0) fit(layouts, options.width - mark, true);
  RINGSIDE_TRY(write_head(comparison, options, sink));
  RINGSIDE_TRY(write_heading(layouts, sink));
  for (std::size_t i = 0; i < count; ++i) {
    make(i);
    if (options.width != 0) cut(row, layouts, options.width - mark);
    RINGSIDE_TRY(write_row(row, layouts, sink));
  }
  return sink.write("\n");
}

Result<void> write_markdown_comparison(const JudgedComparison& judged,
                                       const ComparisonOptions& options, Sink& sink) {
  const Comparison& comparison = judged.comparison;
  const ChosenFunctions chosen(comparison, options);
  std::string sure;
  std::string unsure;
  std::size_t unsure_count = 0;
  for (const ComparedFunction* const function : chosen.shown) {
    const bool is_sure =
        views::is_sure(views::verdict_of(function->share(options.with_callees), options.chance));
    (is_sure ? sure : unsure) += markdown_row(*function, options);
    unsure_count += is_sure ? 0 : 1;
  }
  std::string text = fmt::format("{}  \n{}\n\n", markdown_side("Before:", comparison.before),
                                 markdown_side("After:", comparison.after));
  if (!comparison.unlike.empty())
    text += fmt::format("The recordings are unlike: {}.\n\n",
                        code(fmt::format("{}", fmt::join(comparison.unlike, "; "))));
  text += markdown_breaches(judged.breaches);
  text += sure.empty() ? "**No change is sure.**\n" : std::string(kMarkdownHeading) + sure;
  if (!unsure.empty())
    text += fmt::format(
        "\n<details><summary>{} whose change is not sure</summary>\n\n{}{}\n</details>\n",
        count_of(unsure_count, "function"), kMarkdownHeading, unsure);
  if (chosen.left_out != 0)
    text += fmt::format("\nLeft out: {}.\n", count_of(chosen.left_out, "function"));
  text +=
      fmt::format("\nShares are of all samples, {} callees. Test: {}.\n\n",
                  options.with_callees ? "with" : "without", test_in_words(comparison, options));
  return sink.write(text);
}

}  // namespace ringside::exporters
