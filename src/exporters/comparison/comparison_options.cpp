#include "exporters/comparison/comparison_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "exporters/units.h"
#include "profile/sanitize.h"

namespace ringside::exporters {
namespace {

constexpr double kLeastChance = 0.0001;  // that is written as a number

}  // namespace

ChosenFunctions::ChosenFunctions(const views::Comparison& comparison,
                                 const ComparisonOptions& options) {
  for (const views::ComparedFunction* const function :
       views::by_change(comparison, options.with_callees)) {
    const views::ComparedShare& share = function->share(options.with_callees);
    if (share.before == 0 && share.after == 0) continue;
    const double greatest = std::max(std::abs(share.before), std::abs(share.after));
    const bool is_small = 100 * greatest < options.minimum_percent;
    const bool is_full = options.maximum_rows != 0 && shown.size() == options.maximum_rows;
    if (is_small || is_full)
      ++left_out;
    else
      shown.push_back(function);
  }
}

std::string share_text(double share) { return fmt::format("{:.2f}%", 100 * share); }

std::string change_text(const views::ComparedShare& share) {
  return fmt::format("{:+.2f}%", 100 * share.difference.change);
}

std::string margin_text(const views::ComparedShare& share) {
  return fmt::format("{:.2f}%", 100 * share.difference.margin());
}

std::string chance_text(double p) {
  return p < kLeastChance ? fmt::format("<{:.4f}", kLeastChance) : fmt::format("{:.4f}", p);
}

std::string test_in_words(const views::Comparison& comparison, const ComparisonOptions& options) {
  if (!comparison.has_test()) {
    const views::ComparedSide& side =
        comparison.before.samples == 0 ? comparison.before : comparison.after;
    return fmt::format(
        "none: {} has weights, but neither times nor numbers of samples, so no change is sure",
        profile::sanitize(side.uncounted.empty() ? side.input : side.uncounted));
  }
  if (comparison.is_exact)
    return "none: a repetition of each recording gives the same samples, so each change is one of "
           "the builds";
  const std::string test =
      comparison.is_of_runs()
          ? fmt::format("t-test of the shares of {} and {} recordings",
                        comparison.before.recordings, comparison.after.recordings)
      : comparison.frequencies == 0
          ? "z-test of two proportions with Yates's correction, samples taken as independent"
          : fmt::format("t-test, with the error from {} frequencies of the series of samples",
                        comparison.frequencies);
  const std::size_t tested =
      options.with_callees ? comparison.tested_total : comparison.tested_self;
  return fmt::format("{}; p is corrected for {} (Holm); a change is sure below {:g}", test,
                     count_of(tested, "function"), options.chance);
}

std::string side_in_words(const char* which, const views::ComparedSide& side) {
  return fmt::format("{} {}, {}{}{}", which, inputs_in_words(side), samples_in_words(side),
                     time_in_words(side),
                     side.kernel.empty() ? "" : ", kernel " + profile::sanitize(side.kernel));
}

std::string samples_in_words(const views::ComparedSide& side) {
  if (side.samples == 0) return "the number of samples is not known";
  return count_of(side.samples, "sample");
}

std::string inputs_in_words(const views::ComparedSide& side) {
  std::string text = profile::sanitize(side.input);
  if (side.recordings > 1) text += fmt::format(" and {} more", side.recordings - 1);
  return text;
}

std::string time_in_words(const views::ComparedSide& side) {
  std::string text;
  if (side.idle > 0 && side.busy >= 0) {
    const std::uint64_t all = profile::extent_of(side.busy) + profile::extent_of(side.idle);
    text += fmt::format(" of {} {}, {}% idle", format_count(all), side.unit,
                        format_percent(profile::extent_of(side.idle), all));
  }
  if (side.duration_ns != 0) text += ", over " + format_duration(side.duration_ns);
  return text;
}

std::string count_of(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", format_count(count), what, count == 1 ? "" : "s");
}

}  // namespace ringside::exporters
