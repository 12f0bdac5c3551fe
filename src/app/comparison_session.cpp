#include "app/comparison_session.h"

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

views::Comparison compared(const Input& before, const Input& after) {
  const std::size_t blocks = views::block_count(before.functions, after.functions);
  const auto names = views::tested_names(before.functions.sum(), after.functions.sum());
  views::Comparison comparison =
      views::compare(before.functions.sum(blocks, names), after.functions.sum(blocks, names));
  comparison.before.input = before.name;
  comparison.before.kernel = before.functions.header().kernel;
  comparison.after.input = after.name;
  comparison.after.kernel = after.functions.header().kernel;
  comparison.unlike = views::unlikeness(before.functions, after.functions);
  return comparison;
}

}  // namespace

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
