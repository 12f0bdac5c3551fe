#pragma once

#include <string>

namespace ringside::cli {

class App;
class Option;

// What the scripts of the shells have in common: what is offered for the value of an option.
enum class Values {
  kNone,     // it is a flag
  kUnknown,  // nothing: a number, a text, …
  kListed,   // its choices
  kFiles,
  kFolders,
};
[[nodiscard]] Values values_of(const Option& option);

// What a verb takes by its place; nullptr: nothing.
[[nodiscard]] const Option* argument_of(const App& verb);

[[nodiscard]] std::string bash_completion(const App& app);
[[nodiscard]] std::string fish_completion(const App& app);
[[nodiscard]] std::string zsh_completion(const App& app);

}  // namespace ringside::cli
