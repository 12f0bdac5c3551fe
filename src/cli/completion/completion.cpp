#include "cli/completion/completion.h"

#include "cli/completion/completion_values.h"
#include "cli/options.h"

namespace ringside::cli {

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
