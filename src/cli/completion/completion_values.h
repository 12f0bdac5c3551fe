#pragma once

#include <string>

namespace ringside::cli {

class App;
class Option;

// Kinds of values that completion offers for an option, the same in the scripts of all shells.
enum class Values {
  kNone,     // it is a flag
  kUnknown,  // nothing: a number, a text, …
  kListed,   // its choices
  kFiles,
  kFolders,
};
[[nodiscard]] Values values_of(const Option& option);

// The argument that a verb takes by its place; nullptr: none.
[[nodiscard]] const Option* argument_of(const App& verb);

// One line for a list of completions: the first sentence without remarks in parentheses, or its
// beginning. It has at most 70 bytes.
[[nodiscard]] std::string in_brief(const std::string& description);

[[nodiscard]] std::string bash_completion(const App& app);
[[nodiscard]] std::string fish_completion(const App& app);
[[nodiscard]] std::string zsh_completion(const App& app);

}  // namespace ringside::cli
