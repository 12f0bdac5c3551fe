#include "cli/app.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "app/messages.h"
#include "base/shrunk_files.h"
#include "cli/command_words.h"
#include "cli/completion/completion.h"
#include "cli/hints.h"
#include "cli/manual/man_pages.h"
#include "cli/options.h"
#include "cli/other_spellings.h"
#include "cli/project_settings.h"
#include "cli/terminal.h"
#include "cli/verbs/annotate_verb.h"
#include "cli/verbs/case_verb.h"
#include "cli/verbs/diff_verb.h"
#include "cli/verbs/doctor_verb.h"
#include "cli/verbs/export_verb.h"
#include "cli/verbs/flamegraph_verb.h"
#include "cli/verbs/import_verb.h"
#include "cli/verbs/mem_verb.h"
#include "cli/verbs/profile_verb.h"
#include "cli/verbs/ps_verb.h"
#include "cli/verbs/record_verb.h"
#include "cli/verbs/report_verb.h"
#include "cli/verbs/script_verb.h"
#include "cli/verbs/symbolize_verb.h"
#include "cli/verbs/verb.h"
#include "cli/verbs/view_verb.h"
#include "launch/qemu/qemu_shim.h"
#include "unwind/x86/decoder.h"

namespace ringside::cli {
namespace {

void say(const Error& error) {
  if (!error.message.empty()) app::say("ringside: " + error.message);
}

int report(const Error& error) {
  say(error);
  return error.code == ErrorCode::kUsage ? kWrongUsage : kFailed;
}

int report(const Result<void>& result) { return result ? kDone : report(result.error()); }

// ringside --qemu-shim FOLDER PROGRAM [ARGUMENTS …], which is not for people.
int run_shim(const std::vector<std::string>& words) {
  if (words.size() < 3) return kWrongUsage;
  const auto result = launch::run_qemu_shim(words[1], words[2], {words.begin() + 3, words.end()});
  return report(result.error());
}

std::string without_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

// Its completions or its manual pages.
bool writes_itself(const std::vector<std::string>& words) {
  const std::string& first = words[0];
  return (words.size() == 2 && (first == "--completion" || first == "--man-pages")) ||
         (words.size() == 1 &&
          (first.starts_with("--completion=") || first.starts_with("--man-pages=")));
}

int run_verbs(std::vector<std::string> words) {
  App app{"Profiles the kernel of a virtual machine from outside.", "ringside"};
  app.set_version_flag("-V,--version", "ringside " RINGSIDE_VERSION);
  app.examples(
      "record -- qemu-system-x86_64 -kernel my-kernel.elf -serial stdio\n"
      "flamegraph -o kernel.svg\n"
      "report");
  app.footer(
      "'ringside COMMAND --help' has the options of a command. Exit status: 0 done, 1 the "
      "operation failed, 2 wrong usage, 3 a limit of 'diff' is passed. A command behind -- gives "
      "its own; 125: it could not be recorded.");
  app.require_subcommand(1);
  std::string shell;
  app.add_option("--completion", shell, "Print the completion script of a shell")
      ->type_name("SHELL")
      ->one_of({"bash", "zsh", "fish"})
      ->trigger_on_parse();

  std::string pages;
  app.add_option("--man-pages", pages, "Write the manual pages into a folder")
      ->type_name("FOLDER")
      ->trigger_on_parse();

  if (const auto spelt = respell(words); !spelt) return report(spelt);
  const auto verbs = make_verbs();
  ProjectFlags project_flags;
  for (const auto& verb : verbs) {
    App* sub = app.add_subcommand(verb->name(), verb->summary());
    sub->examples(verb->examples());
    if (verb->takes_command()) sub->takes_words("[[--] QEMU [ARGUMENTS …]]");
    verb->add_options(*sub);
    // Emerald's profiler has -p.
    project_flags.add_to(*sub, verb->name() == "profile" ? "-p,--profile" : "--profile");
  }
  std::vector<std::string> names;
  for (const auto& verb : verbs) names.push_back(verb->name());
  if (words.empty())
    return report({ErrorCode::kUsage, fmt::format("give a command: {}; 'ringside --help' says what "
                                                  "each does",
                                                  fmt::join(names, ", "))});
  const bool is_known =
      words[0].starts_with('-') || std::find(names.begin(), names.end(), words[0]) != names.end();
  if (!is_known)
    return report({ErrorCode::kUsage, fmt::format("there is no command '{}'{}", words[0],
                                                  hint_for_command(words[0], names))});
  if (writes_itself(words)) app.require_subcommand(0);

  std::vector<std::string> command;
  bool has_command = false;
  for (const auto& verb : verbs) {
    if (words.empty() || words[0] != verb->name()) continue;
    auto taken = take_command(words, *app.find_subcommand(verb->name()), verb->takes_command());
    has_command = taken.has_value();
    if (taken) command = std::move(*taken);
  }
  if (const auto end = app.parse(std::move(words))) {
    print(end->out);
    if (!end->err.empty()) app::say_lines(without_end(end->err));
    return end->wrong_usage ? kWrongUsage : report(print_result());
  }
  if (!shell.empty()) {
    print(completion_script(app, shell));
    return report(print_result());
  }
  if (!pages.empty()) return report(write_man_pages(app, pages));
  for (const auto& verb : verbs) {
    App& sub = *app.find_subcommand(verb->name());
    if (!sub.parsed()) continue;
    if (has_command && (!verb->takes_command() || command.empty()))
      return report(
          {ErrorCode::kUsage, verb->takes_command()
                                  ? "no command line behind --: give QEMU and its options there"
                                  : verb->name() + " takes no command line behind --"});
    auto project = ProjectSettings::load(project_flags, app, verbs);
    if (!project) return report(project.error());
    const auto applied = project->apply(sub, verb->takes_command(), command);
    if (!applied) return report(applied.error());
    verb->set_command_folder(project->command_folder());
    const auto result = verb->run(command);
    for (const std::string& name : take_shrunk_files())
      app::say("ringside: " + name +
               " became shorter while it was read: what stood behind its new end is missing");
    if (const std::string problem = unwind::x86::decoder_problem(); !problem.empty())
      app::say("ringside: " + problem);
    const Result<void> shown = result ? print_result() : result;
    if (!shown) say(shown.error());
    return verb->exit_status(shown);
  }
  return kWrongUsage;
}

}  // namespace

std::vector<std::unique_ptr<Verb>> make_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  verbs.push_back(std::make_unique<RecordVerb>());
  verbs.push_back(std::make_unique<ProfileVerb>());
  verbs.push_back(std::make_unique<PsVerb>());
  verbs.push_back(std::make_unique<ReportVerb>());
  verbs.push_back(std::make_unique<ScriptVerb>());
  verbs.push_back(std::make_unique<AnnotateVerb>());
  verbs.push_back(std::make_unique<FlamegraphVerb>());
  verbs.push_back(std::make_unique<DiffVerb>());
  verbs.push_back(std::make_unique<MemVerb>());
  verbs.push_back(std::make_unique<ViewVerb>());
  verbs.push_back(std::make_unique<ExportVerb>());
  verbs.push_back(std::make_unique<ImportVerb>());
  verbs.push_back(std::make_unique<SymbolizeVerb>());
  verbs.push_back(std::make_unique<CaseVerb>());
  verbs.push_back(std::make_unique<DoctorVerb>());
  return verbs;
}

int run(int argc, char** argv) {
  occupy_standard_streams();
  // A file that gets larger than it may be (ulimit -f) is an error of the write, which has a
  // message. QEMU gets the signal as it was: handlers do not survive exec.
  ::signal(SIGXFSZ, [](int) {});
  std::vector<std::string> words(argv + (argc > 0 ? 1 : 0), argv + argc);
  if (!words.empty() && words[0] == launch::kShimOption) return run_shim(words);
  return run_verbs(std::move(words));
}

}  // namespace ringside::cli
