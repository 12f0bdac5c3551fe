#include "cli/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/options.h"
#include "cli/perf_answers.h"

namespace ringside::cli {
namespace {

// Damerau's distance, in its restricted form: no letter is changed twice.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t is_other = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + is_other});
      const bool are_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

// The one that begins with `word`, or that it begins with. Empty: none, or several.
std::string by_beginning(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t kFewest = 3;
  const auto begins = [word](const std::string& each) {
    return std::min(word.size(), each.size()) >= kFewest &&
           (each.starts_with(word) || word.starts_with(each));
  };
  const auto found = std::find_if(words.begin(), words.end(), begins);
  const bool is_one = std::count_if(words.begin(), words.end(), begins) == 1;
  return is_one ? *found : std::string();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t kMostChanges = 3;
  const std::string* best = nullptr;
  std::size_t least = std::min(kMostChanges, word.size() / 2) + 1;
  bool are_several = false;
  for (const std::string& each : words) {
    const std::size_t changes = distance(word, each);
    are_several = changes < least ? false : are_several || (changes == least && best != nullptr);
    if (changes >= least) continue;
    least = changes;
    best = &each;
  }
  if (best == nullptr) return by_beginning(word, words);
  return are_several ? std::string() : *best;
}

std::string hint_for_command(std::string_view word, const std::vector<std::string>& commands,
                             bool may_be_perfs) {
  const auto answer = may_be_perfs ? answer_to_command(word) : std::string_view();
  if (!answer.empty()) return fmt::format(": {}", answer);
  if (may_be_perfs && word.starts_with("qemu-"))
    return fmt::format(": 'ringside record -- {} …' starts it and samples its guest", word);
  if (const std::string near = nearest(word, commands); !near.empty())
    return fmt::format("; did you mean '{}'?", near);
  return fmt::format("; there are {}", fmt::join(commands, ", "));
}

std::string hint_for_option(std::string_view word, const App& command) {
  const bool is_short = word.size() > 2 && word[0] == '-' && word[1] != '-';  // with its value
  const std::string name(is_short ? word.substr(0, 2) : word.substr(0, word.find('=')));
  if (const auto answer = answer_to_option(command.path(), name); !answer.empty())
    return std::string(answer);
  if (!name.starts_with("--")) return {};
  std::vector<std::string> names;
  for (const Option* option : command.options())
    for (std::string& each : option->names())
      if (each.starts_with("--")) names.push_back(std::move(each).substr(2));
  const std::string near = nearest(std::string_view(name).substr(2), names);
  return near.empty() ? near : fmt::format("did you mean --{}?", near);
}

}  // namespace ringside::cli
