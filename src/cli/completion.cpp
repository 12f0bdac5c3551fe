#include "cli/completion.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

namespace ringside::cli {
namespace {

struct OptionNames {
  std::vector<std::string> spelt;  // with their dashes
  std::string description;
};

std::vector<OptionNames> options_of(const CLI::App& app) {
  std::vector<OptionNames> result;
  const auto add = [&](const CLI::App& group) {
    for (const CLI::Option* option : group.get_options()) {
      OptionNames names{{}, option->get_description()};
      for (const std::string& name : option->get_snames()) names.spelt.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) names.spelt.push_back("--" + name);
      result.push_back(std::move(names));
    }
  };
  add(app);
  for (const CLI::App* group : app.get_subcommands({}))
    if (group->get_name().empty()) add(*group);  // an option group
  return result;
}

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  std::vector<const CLI::App*> verbs;
  for (const CLI::App* verb : app.get_subcommands({}))
    if (!verb->get_name().empty()) verbs.push_back(verb);
  return verbs;
}

std::string joined(const std::vector<OptionNames>& options) {
  std::string text;
  for (const OptionNames& option : options)
    for (const std::string& name : option.spelt) text += (text.empty() ? "" : " ") + name;
  return text;
}

// Behind "--" bash completes the command itself.
std::string bash(const CLI::App& app) {
  std::string cases;
  std::string verbs;
  for (const CLI::App* verb : verbs_of(app)) {
    verbs += verb->get_name() + " ";
    cases += fmt::format("    {}) words='{}' ;;\n", verb->get_name(), joined(options_of(*verb)));
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
                     cases, verbs, joined(options_of(app)));
}

std::string zsh(const CLI::App& app) {
  return "#compdef ringside\nautoload -U +X bashcompinit && bashcompinit\n" + bash(app) +
         "_ringside \"$@\"\n";
}

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? "\\'" : std::string(1, c);
  return result + "'";
}

std::string fish(const CLI::App& app) {
  std::string script;
  for (const CLI::App* verb : verbs_of(app)) {
    script += fmt::format("complete -c ringside -n __fish_use_subcommand -a {} -d {}\n",
                          verb->get_name(), fish_quoted(verb->get_description()));
    for (const OptionNames& option : options_of(*verb)) {
      std::string names;
      for (const std::string& name : option.spelt)
        names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      script += fmt::format("complete -c ringside -n '__fish_seen_subcommand_from {}'{} -d {}\n",
                            verb->get_name(), names, fish_quoted(option.description));
    }
  }
  return script;
}

}  // namespace

std::string completion_script(const CLI::App& app, const std::string& shell) {
  if (shell == "zsh") return zsh(app);
  return shell == "fish" ? fish(app) : bash(app);
}

}  // namespace ringside::cli
