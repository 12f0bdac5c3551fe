#include "cases/selection.h"

#include <algorithm>
#include <random>

#include "base/wildcards.h"

namespace ringside::cases {
namespace {

bool holds(std::string_view key, std::string_view value, const Candidate& candidate) {
  const auto& names = candidate.functions;
  const auto is_it = [value](const std::string& name) { return matches(value, name); };
  if (key == "leaf") return !names.empty() && is_it(names.front());
  if (key == "frame") return std::any_of(names.begin(), names.end(), is_it);
  return matches(value, name_of(candidate.stop));
}

bool is_known(std::string_view key) { return key == "leaf" || key == "frame" || key == "stop"; }

}  // namespace

Result<std::vector<std::size_t>> choose(const Selection& selection,
                                        const std::vector<Candidate>& candidates) {
  struct Condition {
    std::string_view key;
    std::string_view value;
  };
  std::vector<Condition> conditions;
  for (const std::string& text : selection.where) {
    const std::size_t at = text.find('=');
    if (at == std::string::npos || !is_known(std::string_view(text).substr(0, at)))
      return fail(ErrorCode::kUsage,
                  "--where {}: give leaf=FUNCTION, frame=FUNCTION or stop=REASON", text);
    conditions.push_back(
        {std::string_view(text).substr(0, at), std::string_view(text).substr(at + 1)});
  }
  std::vector<std::size_t> chosen;
  for (const Candidate& candidate : candidates) {
    const auto& numbers = selection.numbers;
    if (!numbers.empty() &&
        std::find(numbers.begin(), numbers.end(), candidate.number) == numbers.end())
      continue;
    if (selection.incomplete && is_complete(candidate.stop)) continue;
    if (std::all_of(conditions.begin(), conditions.end(),
                    [&](const Condition& c) { return holds(c.key, c.value, candidate); }))
      chosen.push_back(candidate.number);
  }
  if (selection.random && *selection.random < chosen.size()) {
    // Fisher and Yates; std::shuffle's order is not the same everywhere.
    std::mt19937_64 random(selection.seed);
    for (std::size_t i = 0; i < *selection.random; ++i)
      std::swap(chosen[i], chosen[i + random() % (chosen.size() - i)]);
    chosen.resize(*selection.random);
    std::sort(chosen.begin(), chosen.end());
  }
  return chosen;
}

}  // namespace ringside::cases
