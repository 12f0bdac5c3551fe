#include "app/comparison_session.h"

#include <algorithm>
#include <limits>

#include "app/messages.h"
#include "views/comparison/sampled_functions.h"
#include "views/comparison/unlike.h"

namespace ringside::app {
namespace {

struct Input {
  std::string name;
  views::SampledFunctions functions;
};

// The input's name stands in each message: there are several.
Error of_input(Error error, const std::string& name) {
  if (error.message.find(name) == std::string::npos) error.message = name + ": " + error.message;
  return error;
}

Result<Input> read_input(const ReaderSettings& settings, const std::string& name) {
  ReaderSettings one = settings;
  one.inputs = {name};
  auto details = open_details(one, DetailSources::kFirst);
  if (!details) return tl::unexpected(of_input(std::move(details.error()), name));
  auto functions =
      views::SampledFunctions::read(*(*details)->profile, settings.symbols.inline_is_given);
  if (!functions) return tl::unexpected(of_input(std::move(functions.error()), name));
  const bool is_filtered = !(*details)->profile->profile().is_whole();
  for (const std::string& warning : (*details)->recording.symbols.warnings(is_filtered))
    say("ringside: " + name + ": " + warning);
  if (functions->weight() <= 0)
    return fail(ErrorCode::kNotFound,
                "{}: the samples with a stack add up to {}, so there are no shares to compare; "
                "'ringside report' shows what the filters leave",
                name, functions->weight());
  return Input{name, std::move(*functions)};
}

// Shares of time can be compared with those of instructions, but not with those of bytes.
Result<void> check_units(const Input& before, const Input& after) {
  const auto is_of_code = [](const std::string& unit) { return unit != "bytes"; };
  if (is_of_code(before.functions.unit()) == is_of_code(after.functions.unit())) return {};
  return fail(ErrorCode::kUsage,
              "{} has {} and {} has {}: choose values of one nature with --source and --value",
              before.name, before.functions.unit(), after.name, after.functions.unit());
}

void describe(const Input& input, views::ComparedSide& side) {
  const views::Summary& summary = input.functions.summary();
  side.input = input.name;
  side.kernel = input.functions.header().kernel;
  side.unit = input.functions.unit();
  side.busy = summary.sampled + summary.skipped + summary.failed;
  side.idle = summary.idle;
  side.duration_ns = summary.duration_ns;
}

// Whether each difference is one of what ran: nothing else differs, and nothing is missing.
bool are_exact(const Input& before, const Input& after) {
  const views::Summary& old = before.functions.summary();
  const views::Summary& now = after.functions.summary();
  return views::are_of_one_run(before.functions.header(), after.functions.header()) &&
         views::unlikeness(before.functions, after.functions).empty() && old.due &&
         old.due == now.due && old.lost == 0u && now.lost == 0u;
}

views::Comparison compared(const Input& before, const Input& after) {
  const std::size_t blocks = views::block_count(before.functions, after.functions);
  const auto names = views::tested_names(before.functions.sum(), after.functions.sum());
  views::Comparison comparison =
      views::compare(before.functions.sum(blocks, names), after.functions.sum(blocks, names),
                     are_exact(before, after));
  describe(before, comparison.before);
  describe(after, comparison.after);
  comparison.unlike = views::unlikeness(before.functions, after.functions);
  return comparison;
}

// The recordings of one build.
struct Build {
  std::vector<Input> inputs;
  std::vector<views::FunctionSums> sums;
};

Result<Build> read_build(const ReaderSettings& settings, const std::vector<std::string>& names) {
  Build build;
  for (const std::string& name : names) {
    RINGSIDE_ASSIGN(auto input, read_input(settings, name));
    build.sums.push_back(input.functions.sum());
    build.inputs.push_back(std::move(input));
  }
  return build;
}

profile::Weight saturated_sum(profile::Weight a, profile::Weight b) {
  profile::Weight sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a < 0 ? std::numeric_limits<profile::Weight>::min()
               : std::numeric_limits<profile::Weight>::max();
}

// Weights of one build are of one unit.
Result<void> check_one_unit(const Build& build) {
  const Input& first = build.inputs.front();
  for (const Input& other : build.inputs)
    if (other.functions.unit() != first.functions.unit())
      return fail(ErrorCode::kUsage,
                  "{} has {} and {} has {}: the recordings of one build need values of one unit; "
                  "choose them with --source and --value",
                  first.name, first.functions.unit(), other.name, other.functions.unit());
  return {};
}

// The first stands for the others, which add to its numbers.
void describe(const Build& build, views::ComparedSide& side) {
  describe(build.inputs.front(), side);
  for (std::size_t i = 1; i < build.inputs.size(); ++i) {
    views::ComparedSide other;
    describe(build.inputs[i], other);
    side.busy = saturated_sum(side.busy, other.busy);
    side.idle = saturated_sum(side.idle, other.idle);
    side.duration_ns += other.duration_ns;
    if (build.sums[i].samples == 0) side.uncounted = other.input;
  }
}

}  // namespace

Result<views::Comparison> compare_builds(const ReaderSettings& settings,
                                         const std::vector<std::string>& before_names,
                                         const std::vector<std::string>& after_names) {
  RINGSIDE_ASSIGN(const Build before, read_build(settings, before_names));
  RINGSIDE_ASSIGN(const Build after, read_build(settings, after_names));
  RINGSIDE_TRY(check_one_unit(before));
  RINGSIDE_TRY(check_one_unit(after));
  const Input& first = before.inputs.front();
  std::vector<std::string> unlike;
  for (const Build* const build : {&before, &after}) {
    for (const Input& other : build->inputs) {
      RINGSIDE_TRY(check_units(first, other));
      for (std::string& text : views::unlikeness(first.functions, other.functions))
        if (std::find(unlike.begin(), unlike.end(), text) == unlike.end())
          unlike.push_back(std::move(text));
    }
  }
  views::Comparison comparison = views::compare_runs(before.sums, after.sums);
  describe(before, comparison.before);
  describe(after, comparison.after);
  comparison.unlike = std::move(unlike);
  return comparison;
}

Result<std::vector<views::Comparison>> compare_recordings(const ReaderSettings& settings,
                                                          const std::vector<std::string>& inputs) {
  RINGSIDE_ASSIGN(const Input before, read_input(settings, inputs.front()));
  std::vector<views::Comparison> comparisons;
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    RINGSIDE_ASSIGN(const Input after, read_input(settings, inputs[i]));
    RINGSIDE_TRY(check_units(before, after));
    comparisons.push_back(compared(before, after));
  }
  return comparisons;
}

}  // namespace ringside::app
