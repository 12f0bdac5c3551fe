#include "cli/hints.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/options.h"

namespace ringside::cli {
namespace {

struct Answer {
  std::string_view command;  // the path of ringside's that it is typed behind; empty: a command
  std::string_view word;
  std::string_view text;
};

// Commands of perf, samply and gdb.
constexpr std::array kCommands = {
    Answer{{}, "top", "'ringside ps --watch' shows processes, 'ringside profile' functions"},
    Answer{{}, "script", "'ringside export --format perf-script' writes samples as perf does"},
    Answer{{}, "evlist", "'ringside report --header' lists the sources of samples"},
    Answer{{}, "buildid-list", "'ringside report --header' has the kernel's build id"},
    Answer{{}, "kmem", "'ringside mem report' shows who has the memory"},
    Answer{{}, "data", "'ringside export' converts recordings"},
    Answer{{}, "config", "ringside.toml has a project's settings"},
    Answer{{}, "inject", "ringside reads what 'perf inject' writes"},
    Answer{{}, "archive", "files are found by build id below /usr/lib/debug"},
    Answer{{}, "buildid-cache", "files are found by build id below /usr/lib/debug"},
    Answer{{}, "kvm", "ringside samples the guest; 'perf kvm stat' on the host counts its exits"},
    Answer{{}, "c2c", "it needs addresses of memory accesses, which the host's perf samples"},
    Answer{{}, "stat", "ringside samples, and does not count; docs/roadmap.md has what is planned"},
    Answer{{}, "list", "the clock is the one event; docs/roadmap.md has what is planned"},
    Answer{{}, "probe", "the clock is the one event; docs/roadmap.md has what is planned"},
    Answer{{}, "trace", "the clock is the one event; docs/roadmap.md has what is planned"},
    Answer{{}, "ftrace", "the clock is the one event; docs/roadmap.md has what is planned"},
    Answer{{},
           "sched",
           "'ringside view' shows threads over time; docs/roadmap.md has what is planned"},
    Answer{{}, "timechart", "'ringside view' shows threads over time"},
    Answer{{}, "lock", "docs/roadmap.md has what is planned"},
    Answer{{}, "load", "'ringside view' opens a recording in the Firefox Profiler"},
    Answer{{}, "run", "'ringside record -- qemu-system-x86_64 …' starts a guest and samples it"},
    Answer{{}, "start", "'ringside record -- qemu-system-x86_64 …' starts a guest and samples it"},
    Answer{{}, "attach", "'ringside record --gdb ADDR' attaches to a running guest"},
    Answer{{}, "bt", "'ringside profile --one-shot' prints every vCPU's stack"},
    Answer{{}, "addr2line", "'ringside symbolize -e FILE ADDRESS' does that"},
};

// Options of perf's.
constexpr std::array kOptions = {
    Answer{"ringside record", "-p",
           "record samples the whole guest; 'ringside report --pid N' shows one"},
    Answer{"ringside record", "--pid",
           "record samples the whole guest; 'ringside report --pid N' shows one"},
    Answer{"ringside record", "-t",
           "record samples the whole guest; 'ringside report --tid N' shows one"},
    Answer{"ringside record", "--tid",
           "record samples the whole guest; 'ringside report --tid N' shows one"},
    Answer{"ringside record", "-e", "the clock is the one event, as perf's cpu-clock"},
    Answer{"ringside record", "--event", "the clock is the one event, as perf's cpu-clock"},
    Answer{"ringside record", "-c", "-F HZ or --interval TIME is the rate"},
    Answer{"ringside record", "--count", "-F HZ or --interval TIME is the rate"},
    Answer{"ringside record", "--freq-max", "-F HZ or --interval TIME is the rate"},
    Answer{"ringside report", "--tui", "the table has a pager; 'ringside view' opens a browser"},
    Answer{"ringside report", "--gtk", "the table has a pager; 'ringside view' opens a browser"},
    Answer{"ringside report", "--vmlinux", "--kernel FILE is the kernel's file"},
    Answer{"ringside report", "-k", "--kernel FILE is the kernel's file"},
    Answer{"ringside report", "--kallsyms", "--symbols FILE takes it"},
    Answer{"ringside report", "--symfs", "'ringside record --sysroot DIR' takes the guest's files"},
    Answer{"ringside annotate", "-s",
           "the function stands without an option: 'ringside annotate NAME'"},
    Answer{"ringside annotate", "--symbol",
           "the function stands without an option: 'ringside annotate NAME'"},
    Answer{"ringside annotate", "--vmlinux", "--kernel FILE is the kernel's file"},
};

template <std::size_t N>
std::string_view answer_of(const std::array<Answer, N>& answers, std::string_view command,
                           std::string_view word) {
  const auto found = std::find_if(answers.begin(), answers.end(), [&](const Answer& answer) {
    return answer.command == command && answer.word == word;
  });
  return found == answers.end() ? std::string_view() : found->text;
}

// Damerau's distance, in its restricted form: no letter is changed twice.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t is_other = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + is_other});
      const bool are_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (are_exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

// The one that begins with `word`, or that it begins with. Empty: none, or several.
std::string by_beginning(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t kFewest = 3;
  const auto begins = [word](const std::string& each) {
    return std::min(word.size(), each.size()) >= kFewest &&
           (each.starts_with(word) || word.starts_with(each));
  };
  const auto found = std::find_if(words.begin(), words.end(), begins);
  const bool is_one = std::count_if(words.begin(), words.end(), begins) == 1;
  return is_one ? *found : std::string();
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& words) {
  constexpr std::size_t kMostChanges = 3;
  const std::string* best = nullptr;
  std::size_t least = std::min(kMostChanges, word.size() / 2) + 1;
  bool are_several = false;
  for (const std::string& each : words) {
    const std::size_t changes = distance(word, each);
    are_several = changes < least ? false : are_several || (changes == least && best != nullptr);
    if (changes >= least) continue;
    least = changes;
    best = &each;
  }
  if (best == nullptr) return by_beginning(word, words);
  return are_several ? std::string() : *best;
}

std::string hint_for_command(std::string_view word, const std::vector<std::string>& commands,
                             bool may_be_perfs) {
  const auto answer = may_be_perfs ? answer_of(kCommands, {}, word) : std::string_view();
  if (!answer.empty()) return fmt::format(": {}", answer);
  if (may_be_perfs && word.starts_with("qemu-"))
    return fmt::format(": 'ringside record -- {} …' starts it and samples its guest", word);
  if (const std::string near = nearest(word, commands); !near.empty())
    return fmt::format("; did you mean '{}'?", near);
  return fmt::format("; there are {}", fmt::join(commands, ", "));
}

std::string hint_for_option(std::string_view word, const App& command) {
  const bool is_short = word.size() > 2 && word[0] == '-' && word[1] != '-';  // with its value
  const std::string name(is_short ? word.substr(0, 2) : word.substr(0, word.find('=')));
  if (const auto answer = answer_of(kOptions, command.path(), name); !answer.empty())
    return std::string(answer);
  if (!name.starts_with("--")) return {};
  std::vector<std::string> names;
  for (const Option* option : command.options())
    for (std::string& each : option->names())
      if (each.starts_with("--")) names.push_back(std::move(each).substr(2));
  const std::string near = nearest(std::string_view(name).substr(2), names);
  return near.empty() ? near : fmt::format("did you mean --{}?", near);
}

}  // namespace ringside::cli
