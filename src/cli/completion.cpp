#include "cli/completion.h"

#include <fmt/format.h>

#include "cli/options.h"

namespace ringside::cli {
namespace {

std::string joined_names(const App& app) {
  std::string text;
  for (const Option* option : app.options())
    for (const std::string& name : option->names()) text += (text.empty() ? "" : " ") + name;
  return text;
}

// Behind "--" bash completes the command itself.
std::string bash(const App& app) {
  std::string cases;
  std::string verbs;
  for (const App* verb : app.subcommands()) {
    verbs += verb->name() + " ";
    cases += fmt::format("    {}) words='{}' ;;\n", verb->name(), joined_names(*verb));
  }
  return fmt::format(R"(_ringside() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    if [[ ${{COMP_WORDS[i]}} == -- ]]; then
      _command_offset $((i + 1)) 2>/dev/null
      return
    fi
  done
  case ${{COMP_WORDS[1]}} in
{}    *) words='{}{}' ;;
  esac
  if ((COMP_CWORD == 1)) || [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
  else
    COMPREPLY=($(compgen -f -- "$word"))
  fi
}}
complete -o filenames -F _ringside ringside
)",
                     cases, verbs, joined_names(app));
}

std::string zsh(const App& app) {
  return "#compdef ringside\nautoload -U +X bashcompinit && bashcompinit\n" + bash(app) +
         "_ringside \"$@\"\n";
}

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "\\'" : std::string(1, c);
  return result + "'";
}

std::string fish(const App& app) {
  std::string script;
  for (const App* verb : app.subcommands()) {
    script += fmt::format("complete -c ringside -n __fish_use_subcommand -a {} -d {}\n",
                          verb->name(), fish_quoted(verb->description()));
    for (const Option* option : verb->options()) {
      std::string names;
      for (const std::string& name : option->names())
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      script += fmt::format("complete -c ringside -n '__fish_seen_subcommand_from {}'{} -d {}\n",
                            verb->name(), names, fish_quoted(option->description()));
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const App& app, const std::string& shell) {
  if (shell == "zsh") return zsh(app);
  return shell == "fish" ? fish(app) : bash(app);
}

}  // namespace ringside::cli
