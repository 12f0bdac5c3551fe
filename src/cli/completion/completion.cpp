#include "cli/completion/completion.h"

#include <algorithm>
#include <string_view>

#include "cli/completion/completion_values.h"
#include "cli/options.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kShortestBrief = 14;
constexpr std::size_t kLongestBrief = 70;
constexpr std::string_view kLeftOut = "...";

bool ends_word(const std::string& text, std::size_t at) {
  return at + 1 == text.size() || text[at + 1] == ' ';
}

// The first sentence, without what is in parentheses.
std::string first_sentence(const std::string& text) {
  std::string sentence;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at];
    if (letter == '(') {
      ++depth;
      if (sentence.ends_with(' ')) sentence.pop_back();
    } else if (letter == ')' && depth > 0) {
      --depth;
    } else if (depth == 0) {
      if (letter == '.' && ends_word(text, at)) break;
      sentence += letter;
    }
  }
  return sentence;
}

}  // namespace

std::string in_brief(const std::string& description) {
  std::string text = first_sentence(description);
  if (text.size() <= kLongestBrief) return text;
  for (std::size_t at = kLongestBrief; at >= kShortestBrief; --at)
    if ((text[at] == ':' || text[at] == ';') && ends_word(text, at)) return text.substr(0, at);
  const std::size_t room = kLongestBrief - kLeftOut.size();
  text.resize(std::min(text.rfind(' ', room), room));
  return text.append(kLeftOut);
}

Values values_of(const Option& option) {
  if (option.most_values() == 0) return Values::kNone;
  if (!option.choices().empty()) return Values::kListed;
  const std::string& type =
      option.type_name().empty() ? option.argument_name() : option.type_name();
  if (type == "DIR") return Values::kFolders;
  // An address may be the path of a socket.
  return type == "FILE" || type == "ADDR" || type == "IMAGE" ? Values::kFiles : Values::kUnknown;
}

const Option* argument_of(const App& verb) {
  for (const Option* option : verb.options())
    if (!option->argument_name().empty()) return option;
  return nullptr;
}

std::string completion_script(const App& app, const std::string& shell) {
  if (shell == "zsh") return zsh_completion(app);
  return shell == "fish" ? fish_completion(app) : bash_completion(app);
}

}  // namespace ringside::cli
