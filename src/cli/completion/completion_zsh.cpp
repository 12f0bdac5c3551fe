#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/completion_values.h"
#include "cli/options.h"

namespace ringside::cli {
namespace {

// For a word in single quotes; in a part of an _arguments specification, which `special` ends, too.
std::string quoted(const std::string& text, std::string_view special = {}) {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != special.npos) result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result;
}

// ":NAME:ACTION" of _arguments; empty for a flag.
std::string value_part(const Option& option) {
  const std::string& type =
      option.type_name().empty() ? option.argument_name() : option.type_name();
  const std::string name = ":" + quoted(type.empty() ? "value" : type, ":\\");
  switch (values_of(option)) {
    case Values::kNone:
      return "";
    case Values::kListed:
      return fmt::format("{}:({})", name, fmt::join(option.choices(), " "));
    case Values::kFiles:
      return name + ":_files";
    case Values::kFolders:
      return name + ":_files -/";
    case Values::kUnknown:
      break;
  }
  return name + ": ";
}

std::string specification(const Option& option, const std::string& name) {
  const std::string value = value_part(option);
  const char* end = value.empty() ? "" : name.starts_with("--") ? "=" : "+";
  const std::string others =
      option.most_values() > 1 ? "*" : fmt::format("({})", fmt::join(option.names(), " "));
  return fmt::format("    '{}{}{}[{}]{}'", others, name, end,
                     quoted(in_brief(option.description()), "[]:\\"), value);
}

// A function for the verb, and one for each below it.
std::string functions(const App& verb, const std::string& name) {
  std::string below;
  std::string verbs;
  std::string cases;
  for (const App* sub : verb.subcommands()) {
    below += functions(*sub, name + "_" + sub->name());
    verbs +=
        fmt::format("      '{}:{}'\n", sub->name(), quoted(in_brief(sub->description()), ":\\"));
    cases +=
        fmt::format("  {0}) shift words; (( CURRENT-- )); {1}_{0}; return ;;\n", sub->name(), name);
  }
  std::string text = fmt::format("{}{}() {{\n", below, name);
  if (!verbs.empty())
    text += fmt::format(R"(  if (( CURRENT == 2 )) && [[ $PREFIX != -* ]]; then
    local -a commands=(
{}    )
    _describe -t commands command commands
    return
  fi
  case $words[2] in
{}  esac
)",
                        verbs, cases);
  text += "  _arguments -s :";
  for (const Option* option : verb.options())
    for (const std::string& option_name : option->names())
      text += " \\\n" + specification(*option, option_name);
  if (const Option* argument = argument_of(verb))
    text += fmt::format(" \\\n    '{}{}'", argument->most_values() > 1 ? "*" : "",
                        value_part(*argument));
  return text + "\n}\n";
}

}  // namespace

std::string zsh_completion(const App& app) {
  // The words behind "--" are a command of its own. The file is a function to load, or is sourced.
  return "#compdef ringside\n" + functions(app, "_ringside_verb") + R"(_ringside() {
  local -i dashes=${words[(i)--]}
  if (( dashes < CURRENT )); then
    words=("${(@)words[dashes + 1,-1]}")
    (( CURRENT -= dashes ))
    _normal
    return
  fi
  _ringside_verb
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
  _ringside "$@"
else
  compdef _ringside ringside
fi
)";
}

}  // namespace ringside::cli
