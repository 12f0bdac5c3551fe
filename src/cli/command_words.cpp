#include "cli/command_words.h"

#include <algorithm>

#include "cli/options.h"

namespace ringside::cli {
namespace {

// How many of `words`, from `at` on, are an option with its value; 0 where they begin with none.
std::size_t option_size(const std::vector<std::string>& words, std::size_t at, const App& verb) {
  const std::string& word = words[at];
  if (word.size() < 2 || word[0] != '-') return 0;
  const bool is_long = word.starts_with("--");
  if (is_long && word.find('=') != std::string::npos) return 1;
  const Option* option = nullptr;
  if (is_long) {
    option = verb.find_option(word);
  } else {
    // Flags of one letter may share a word; the value of one that has one may be its rest.
    std::size_t letter = 1;
    do option = verb.find_option(std::string("-") + word[letter]);
    while (option != nullptr && option->most_values() == 0 && ++letter < word.size());
    if (letter + 1 < word.size()) return 1;
  }
  // One that is not known is for the parser to refuse.
  if (option == nullptr || option->most_values() == 0) return 1;
  const bool has_value =
      at + 1 < words.size() && (option->least_values() > 0 || !words[at + 1].starts_with('-'));
  return has_value ? 2 : 1;
}

}  // namespace

std::optional<std::vector<std::string>> take_command(std::vector<std::string>& words,
                                                     const App& verb, bool takes_command) {
  std::size_t begin = 1;
  bool has_dashes = false;
  while (begin < words.size()) {
    has_dashes = words[begin] == "--";
    const std::size_t size = has_dashes ? 0 : option_size(words, begin, verb);
    if (size == 0 && (has_dashes || takes_command)) break;
    begin += std::max<std::size_t>(size, 1);
  }
  if (begin >= words.size()) return std::nullopt;
  const auto first = words.begin() + static_cast<std::ptrdiff_t>(begin);
  std::vector<std::string> command(first + (has_dashes ? 1 : 0), words.end());
  words.erase(first, words.end());
  return command;
}

}  // namespace ringside::cli
