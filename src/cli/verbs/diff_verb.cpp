#include "cli/verbs/diff_verb.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/comparison_session.h"
#include "app/messages.h"
#include "app/outputs.h"
#include "cli/options.h"
#include "cli/reader_flags.h"
#include "exporters/comparison/comparison_text.h"
#include "exporters/flamegraph/change_flamegraph.h"

namespace ringside::cli {
namespace {

constexpr double kFoldedPercent = 0.1;  // functions below it are left out on a terminal

// Without the number of samples nothing can be sure, and so no limit be passed.
Result<void> check_samples(const views::Comparison& comparison) {
  for (const views::ComparedSide* const side : {&comparison.before, &comparison.after})
    if (side->samples == 0)
      return fail(
          ErrorCode::kUsage,
          "{} has weights, but neither times nor numbers of samples, so no change is sure "
          "and a limit means nothing; choose values that count with --value, where there are "
          "some",
          side->uncounted.empty() ? side->input : side->uncounted);
  return {};
}

}  // namespace

void DiffVerb::add_options(App& app) {
  app.section(kSamplesSection)
      .add_option("FILES", inputs_,
                  "The recording before a change, and one or more after it; each may be a file "
                  "that 'ringside import' takes")
      ->type_name("FILE")
      ->expected(2, 1000);
  app.section(kSamplesSection)
      .add_option("--before", before_,
                  "One or more recordings of a build: the mean shares are compared with those of "
                  "--after, and how they scatter decides what is sure")
      ->type_name("FILE")
      ->expected(1, 1000);
  app.section(kSamplesSection)
      .add_option("--after", after_, "One or more recordings of the other build")
      ->type_name("FILE")
      ->expected(1, 1000);
  add_output(app.section(kOutputSection));
  add_limits(app.section("Limits, for tests of a build"));
  screen_.add_to(app.section("At a terminal"));
  add_comparing_flags(app, settings_);
}

void DiffVerb::add_output(App& app) {
  app.add_option("--format", format_,
                 "text for people; markdown for a pull request; json for programs: all functions")
      ->type_name("NAME")
      ->one_of({"text", "markdown", "json"})
      ->capture_default_str();
  app.add_option("--flamegraph", picture_,
                 "Write a flame graph of what changed, too; of two recordings")
      ->type_name("FILE");
  app.add_flag("--icicle", icicle_, "In the flame graph, roots at the top");
  app.add_flag("--reverse", reverse_, "In the flame graph, leaves first: who calls what changed");
  app.add_flag("--children", options_.with_callees, "Compare the time with callees");
  app.add_option("--percent-limit", percent_limit_,
                 "Leave out functions whose shares are all below it (default: 0.1 at a terminal, "
                 "else 0)")
      ->type_name("PERCENT")
      ->range(0.0, 100.0);
  app.add_option("--rows", options_.maximum_rows, "Show at most so many functions")->type_name("N");
  app.add_option("--confidence", confidence_percent_,
                 "How sure a change must be to count, all functions together")
      ->type_name("PERCENT")
      ->range(50.0, 99.999999)
      ->capture_default_str();
}

void DiffVerb::add_limits(App& app) {
  app.add_option("--fail-if", limits_,
                 "Exit with status 3 if the share of a function, with its callees, changes by "
                 "more percentage points than that, and the change is sure: "
                 "'kernel:vfs_write > +2%', 'libc.so.6:memcpy < -1%'")
      ->type_name("LIMIT")
      ->allow_extra_args(false);
  app.add_option("--fail-if-any", limits_of_any_,
                 "The same if any function's own share changes so: '> 1%'")
      ->type_name("LIMIT")
      ->allow_extra_args(false);
}

Result<std::vector<views::ChangeLimit>> DiffVerb::limits() const {
  std::vector<views::ChangeLimit> limits;
  for (const bool has_name : {true, false}) {
    for (const std::string& text : has_name ? limits_ : limits_of_any_) {
      RINGSIDE_ASSIGN(auto limit, views::parse_limit(text, has_name));
      limits.push_back(std::move(limit));
    }
  }
  return limits;
}

// Why the table calls a change unsure that is beyond its limit; else empty. There are fewer limits
// than functions, and the more are tested, the more changes are there by chance.
std::string DiffVerb::why_unsure(const views::Comparison& comparison,
                                 const views::LimitBreach& breach) const {
  const bool has_name = breach.limit->has_name();
  const views::ComparedShare& share = breach.function->share(has_name);
  if (views::verdict_of(share, options_.chance) != views::Verdict::kUnsure) return {};
  return fmt::format(
      "; p is {} for the limit, and {} in the table, where it is corrected for {}: unsure there",
      exporters::chance_text(breach.p), exporters::chance_text(share.corrected_p),
      exporters::count_of(has_name ? comparison.tested_total : comparison.tested_self, "function"));
}

// Finds what is beyond the limits, and says so.
void DiffVerb::judge(exporters::JudgedComparison& judged,
                     const std::vector<views::ChangeLimit>& limits) {
  const std::string& input = judged.comparison.after.input;
  for (const views::ChangeLimit& limit : limits)
    if (limit.has_name() && views::functions_of(judged.comparison, limit).empty())
      app::say(
          fmt::format("ringside: {}: no sample of either recording is of '{}', so the limit "
                      "'{}' is kept; 'ringside report' lists names",
                      input, limit.whole, limit.text));
  judged.breaches = views::breaches(judged.comparison, limits, options_.chance);
  for (const views::LimitBreach& breach : judged.breaches) {
    const views::ComparedShare& share = breach.function->share(breach.limit->has_name());
    const std::string change = fmt::format(
        "ringside: {}: {} changed from {} to {} ({}), beyond the limit '{}'", input,
        breach.function->name, exporters::share_text(share.before),
        exporters::share_text(share.after), exporters::change_text(share), breach.limit->text);
    if (breach.is_sure)
      app::say(change + why_unsure(judged.comparison, breach));
    else if (breach.limit->has_name())
      app::say(
          fmt::format("{}; it may be chance (p {}), so the limit counts as kept: record more "
                      "samples",
                      change, exporters::chance_text(breach.p)));
    is_passed_ |= breach.is_sure;
  }
}

Result<void> DiffVerb::write_text(const std::vector<exporters::JudgedComparison>& comparisons) {
  exporters::ComparisonOptions options = options_;
  options.width = screen_.width();
  options.minimum_percent = percent_limit_.value_or(screen_.is_terminal() ? kFoldedPercent : 0);
  return screen_.show([&](exporters::Sink& sink) -> Result<void> {
    for (const exporters::JudgedComparison& judged : comparisons)
      RINGSIDE_TRY(exporters::write_text_comparison(judged.comparison, options, sink));
    return {};
  });
}

Result<void> DiffVerb::write(const std::vector<exporters::JudgedComparison>& comparisons) {
  options_.minimum_percent = percent_limit_.value_or(0);
  return app::write_to("-", [&](exporters::Sink& sink) -> Result<void> {
    if (format_ == "json") return exporters::write_json_comparisons(comparisons, options_, sink);
    for (const exporters::JudgedComparison& judged : comparisons)
      RINGSIDE_TRY(exporters::write_markdown_comparison(judged, options_, sink));
    return {};
  });
}

Result<void> DiffVerb::check_picture() const {
  if (picture_.empty()) {
    if (reverse_) return fail(ErrorCode::kUsage, "--reverse is for --flamegraph: give both");
    if (icicle_) return fail(ErrorCode::kUsage, "--icicle is for --flamegraph: give both");
    return {};
  }
  if (!before_.empty())
    return fail(ErrorCode::kUsage,
                "--flamegraph is of two recordings, not of those of --before and --after");
  if (inputs_.size() != 2)
    return fail(ErrorCode::kUsage,
                "--flamegraph is of two recordings, and there are {}: draw each "
                "of the others in a run of its own",
                inputs_.size());
  if (picture_ == "-")
    return fail(ErrorCode::kUsage,
                "--flamegraph -: the table is written to standard output; give the picture a name "
                "such as diff.svg");
  RINGSIDE_TRY(app::check_no_input(picture_, inputs_, "--flamegraph"));
  return app::check_output(picture_);
}

Result<void> DiffVerb::draw() const {
  const auto open = [this](const std::string& input) {
    app::ReaderSettings one = settings_;
    one.inputs = {input};
    return app::open_profile(one);
  };
  RINGSIDE_ASSIGN(auto before, open(inputs_[0]));
  RINGSIDE_ASSIGN(auto after, open(inputs_[1]));
  RINGSIDE_TRY(app::write_to(picture_, [&](exporters::Sink& sink) {
    return exporters::write_change_flamegraph(before, after,
                                              {inputs_[0], inputs_[1], reverse_, icicle_}, sink);
  }));
  app::say("ringside: wrote " + picture_ + "; open it in a browser");
  return {};
}

// Without a group of recordings there are at least two.
Result<void> DiffVerb::check_builds() const {
  if (before_.empty() && after_.empty()) {
    if (!inputs_.empty()) return {};
    return fail(ErrorCode::kUsage,
                "which recordings? Give two or more, or --before FILE … --after FILE …");
  }
  if (!inputs_.empty() || before_.empty() || after_.empty())
    return fail(ErrorCode::kUsage,
                "--before and --after go together, and take the place of other files");
  if (before_.size() + after_.size() < 3)
    return fail(ErrorCode::kUsage,
                "--before and --after have one recording each, which do not scatter: give more, or "
                "'ringside diff {} {}'",
                before_.front(), after_.front());
  return {};
}

Result<std::vector<views::Comparison>> DiffVerb::comparisons_of_inputs() const {
  if (before_.empty()) return app::compare_recordings(settings_, inputs_);
  RINGSIDE_ASSIGN(auto comparison, app::compare_builds(settings_, before_, after_));
  std::vector<views::Comparison> comparisons;
  comparisons.push_back(std::move(comparison));
  return comparisons;
}

Result<void> DiffVerb::run(const std::vector<std::string>&) {
  options_.chance = 1 - confidence_percent_ / 100;
  RINGSIDE_ASSIGN(const auto limits, this->limits());
  const auto dashes = [](const std::vector<std::string>& files) {
    return std::count(files.begin(), files.end(), "-");
  };
  if (dashes(inputs_) + dashes(before_) + dashes(after_) > 1)
    return fail(ErrorCode::kUsage, "- is standard input, which can be one of the recordings only");
  RINGSIDE_TRY(check_builds());
  RINGSIDE_TRY(check_picture());
  RINGSIDE_ASSIGN(auto comparisons, comparisons_of_inputs());
  std::vector<exporters::JudgedComparison> judged;
  for (views::Comparison& comparison : comparisons) {
    judged.push_back({std::move(comparison), {}});
    const views::Comparison& made = judged.back().comparison;
    const std::string which =
        made.is_of_runs() ? "the recordings" : made.before.input + " and " + made.after.input;
    for (const std::string& text : made.unlike)
      app::say(fmt::format("ringside: {} are unlike: {}; shares may differ for that", which, text));
  }
  for (exporters::JudgedComparison& one : judged) {
    if (!limits.empty()) RINGSIDE_TRY(check_samples(one.comparison));
    judge(one, limits);
  }
  RINGSIDE_TRY(format_ == "text" ? write_text(judged) : write(judged));
  return picture_.empty() ? Result<void>() : draw();
}

}  // namespace ringside::cli
