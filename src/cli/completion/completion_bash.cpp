#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/completion_values.h"
#include "cli/options.h"

namespace ringside::cli {
namespace {

// The parts of the script, each a list of cases. A verb's path is "/record" or "/case/list".
struct Cases {
  std::string paths;      // of verbs, joined by |
  std::string values;     // by path and option: what is offered for its value
  std::string words;      // by path: the names of its options
  std::string arguments;  // by path: what is offered for what has no name
};

std::string offer(const std::vector<std::string>& words) {
  return fmt::format("_ringside_offer -W '{}'", fmt::join(words, " "));
}

std::string offer(const Option& option) {
  switch (values_of(option)) {
    case Values::kListed:
      return offer(option.choices());
    case Values::kFiles:
      return "_ringside_offer_paths -f";
    case Values::kFolders:
      return "_ringside_offer_paths -d";
    default:
      return ":";
  }
}

void add(const App& verb, const std::string& path, Cases& cases) {
  std::vector<std::string> verbs;
  for (const App* sub : verb.subcommands()) {
    const std::string below = path + "/" + sub->name();
    verbs.push_back(sub->name());
    cases.paths += (cases.paths.empty() ? "" : "|") + below;
    add(*sub, below, cases);
  }
  std::vector<std::string> words;
  for (const Option* option : verb.options()) {
    std::string names;
    for (const std::string& name : option->names()) {
      words.push_back(name);
      names += fmt::format("{}'{} {}'", names.empty() ? "" : "|", path, name);
    }
    if (!names.empty() && values_of(*option) != Values::kNone)
      cases.values += fmt::format("  {}) {}; return ;;\n", names, offer(*option));
  }
  cases.words += fmt::format("    '{}') words='{}' ;;\n", path, fmt::join(words, " "));
  const Option* const argument = argument_of(verb);
  if (argument != nullptr || !verbs.empty())
    cases.arguments +=
        fmt::format("  '{}') {} ;;\n", path, argument != nullptr ? offer(*argument) : offer(verbs));
}

}  // namespace

std::string bash_completion(const App& app) {
  Cases cases;
  add(app, "", cases);
  // bash takes "--option=value" for three words. Behind "--" it completes the command itself.
  return fmt::format(R"(_ringside_offer() {{ mapfile -t COMPREPLY < <(compgen "$@" -- "$word"); }}
_ringside_offer_paths() {{
  compopt -o filenames
  _ringside_offer "$@"
}}
_ringside_command() {{
  if declare -F _comp_command_offset >/dev/null; then
    _comp_command_offset "$1"
  elif declare -F _command_offset >/dev/null; then
    _command_offset "$1"
  elif ((COMP_CWORD == $1)); then
    _ringside_offer -c
  else
    _ringside_offer_paths -f
  fi
}}
_ringside() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} path='' words='' i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then
      _ringside_command $((i + 1))
      return
    fi
  done
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case $path/${{COMP_WORDS[i]}} in
    {}) path+=/${{COMP_WORDS[i]}} ;;
    *) break ;;
    esac
  done
  if [[ $word == = ]]; then
    word=''
  elif [[ $before == = ]]; then
    before=${{COMP_WORDS[COMP_CWORD - 2]}}
  fi
  case "$path $before" in
{}  esac
  if [[ $word == -* ]]; then
    case $path in
{}    esac
    _ringside_offer -W "$words"
    return
  fi
  case $path in
{}  esac
}}
complete -F _ringside ringside
)",
                     cases.paths, cases.values, cases.words, cases.arguments);
}

}  // namespace ringside::cli
