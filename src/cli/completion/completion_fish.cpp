#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion/completion_values.h"
#include "cli/options.h"

namespace ringside::cli {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text)
    result += c == '\'' || c == '\\' ? fmt::format("\\{}", c) : std::string(1, c);
  return result + "'";
}

// How `complete` offers values for an option, or for an argument by its place.
std::string offer(const Option& option) {
  switch (values_of(option)) {
    case Values::kListed:
      return fmt::format(" -a '{}'", fmt::join(option.choices(), " "));
    case Values::kFiles:
      return " -F";
    case Values::kFolders:
      return " -a '(__fish_complete_directories)'";
    default:
      return "";
  }
}

// -r: there is a value; -f: files are none.
std::string value_part(const Option& option) {
  const Values values = values_of(option);
  if (values == Values::kNone) return "";
  return (values == Values::kFiles ? " -r" : " -r -f") + offer(option);
}

// `path` has the words of the verb, each behind a space.
std::string lines(const App& verb, const std::string& path) {
  const std::string begin = fmt::format("complete -c ringside -n '__ringside_verb{}", path);
  std::string text;
  std::string alone;
  for (const App* sub : verb.subcommands()) {
    alone += (alone.empty() ? "; and not __fish_seen_subcommand_from " : " ") + sub->name();
    text += fmt::format("{}; and __ringside_is_next{}' -a {} -d {}\n", begin, path, sub->name(),
                        quoted(in_brief(sub->description())));
    text += lines(*sub, path + " " + sub->name());
  }
  for (const Option* option : verb.options()) {
    std::string names;
    for (const std::string& name : option->names())
      names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
    if (!names.empty())
      text += fmt::format("{}{}'{} -d {}{}\n", begin, alone, names,
                          quoted(in_brief(option->description())), value_part(*option));
  }
  const Option* const argument = argument_of(verb);
  if (argument != nullptr && !offer(*argument).empty())
    text += begin + "'" + offer(*argument) + "\n";
  return text;
}

}  // namespace

std::string fish_completion(const App& app) {
  // The words behind "--" are a command of its own.
  return R"(function __ringside_verb
  set -l words (commandline -opc)
  contains -- -- $words; and return 1
  set -l last (math 1 + (count $argv))
  test (count $words) -ge $last; or return 1
  test $last -eq 1; or test "$words[2..$last]" = "$argv"
end
function __ringside_is_next
  test (count (commandline -opc)) -eq (math 1 + (count $argv))
end
function __ringside_command
  set -l words (commandline -opc)
  set -l place (contains -i -- -- $words); or return
  set -e words[1..$place]
  complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end
complete -c ringside -f
complete -c ringside -n 'contains -- -- (commandline -opc)' -a '(__ringside_command)'
)" + lines(app, "");
}

}  // namespace ringside::cli
