#include "cli/verbs/doctor_verb.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "app/messages.h"
#include "base/scheduling.h"
#include "cli/options.h"
#include "cli/terminal.h"
#include "cli/verbs/doctor_cache.h"
#include "cli/verbs/doctor_recording.h"
#include "launch/engine_choice.h"
#include "launch/host_facts.h"
#include "launch/host_priority.h"
#include "launch/qemu/qemu_binary.h"

namespace ringside::cli {
namespace {

std::string own_path() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
}

std::string kvm() {
  if (launch::kvm_is_usable()) return "usable; its guests are sampled by gdb or QMP";
  return fmt::format("not usable (/dev/kvm: {}); guests run under TCG", std::strerror(errno));
}

std::string trace() {
  switch (launch::trace_right()) {
    case launch::TraceRight::kAll:
      return "guest memory is read from any QEMU of this user, without stopping the guest";
    case launch::TraceRight::kChildren:
      return "guest memory is read from QEMUs that ringside starts (Yama's ptrace_scope is 1); "
             "others' through the stub, in short stops";
    case launch::TraceRight::kNone:
      break;
  }
  return "not allowed (Yama's ptrace_scope): guest memory is read through the stub, in short stops";
}

std::string scheduling() {
  const auto before = schedule_first(0);
  if (before) restore_scheduling(*before);
  return before
             ? "SCHED_RR is allowed, for hosts with few processors"
             : "SCHED_RR is not allowed (CAP_SYS_NICE): where vCPUs take all processors, samples "
               "come late";
}

// Tasks that ran or waited in the last minute, by Linux' load average (proc(5), /proc/loadavg),
// which is the whole machine's.
std::string load() {
  double tasks = 0;
  if (::getloadavg(&tasks, 1) != 1) return "unknown";
  const std::string text = fmt::format("{:.1f} tasks in the last minute", tasks);
  if (tasks <= static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN))) return text;
  return text + ": samples may be lost while others have the processors. " +
         (launch::HostPriority::check()
              ? "record --host-priority gives QEMU more of them (docs/busy-hosts.md)"
              : "A higher priority of QEMU's group of tasks helps (CAP_SYS_NICE; "
                "docs/busy-hosts.md)");
}

std::filesystem::path plugin() {
  std::error_code ignored;
  return launch::find_plugin(std::filesystem::read_symlink("/proc/self/exe", ignored));
}

void say_machine() {
  print("This machine\n");
  say_of("processors", std::to_string(::sysconf(_SC_NPROCESSORS_ONLN)));
  say_of("KVM", kvm());
  say_of("ptrace", trace());
  say_of("scheduling", scheduling());
  say_of("load", load());
  const auto found = plugin();
  say_of("TCG plugin", found.empty() ? "not found; $RINGSIDE_PLUGIN may name it" : found.string());
}

Result<void> check_is_there(const std::string& program) {
  if (launch::is_there(program)) return {};
  return fail(ErrorCode::kNotFound, "{}: there is no such program{}", program,
              program.find('/') == std::string::npos ? " in PATH" : "");
}

// Asks a QEMU for its version and its plugin. A script is not run for it: it may start a guest.
Result<launch::QemuFacts> ask(const std::string& program) {
  RINGSIDE_TRY(check_is_there(program));
  const auto binary = launch::find_qemu_binary(program);
  if (!binary)
    return fail(ErrorCode::kUnsupported,
                "'{}' is no program, or a script that names no QEMU: it is not run to ask it",
                program);
  launch::QemuFacts facts;
  facts.program = program;
  facts.kvm_is_usable = launch::kvm_is_usable();
  RINGSIDE_ASSIGN(facts.version, launch::ask_qemu_version(binary->string()));
  facts.plugin = launch::choose_plugin(program, facts.version, launch::plugin_family(plugin()),
                                       launch::PluginApiCache());
  return facts;
}

std::string no_plugin_for(const launch::PluginChoice& plugin) {
  return fmt::format("no TCG plugin: {}{}{}", plugin.why, plugin.better.empty() ? "" : "; ",
                     plugin.better);
}

std::string abilities_of(const launch::PluginChoice& plugin) {
  if (!plugin.file.path.empty())
    return fmt::format("TCG plugin (API {}), gdb, QMP", plugin.file.api);
  return "gdb and QMP; " + no_plugin_for(plugin);
}

// The QEMUs in PATH of the architectures that ringside knows, in this order.
std::vector<std::filesystem::path> own_qemus() {
  const auto all = launch::qemus_in(own_path());
  std::vector<std::filesystem::path> found;
  for (const char* known : {"qemu-system-x86_64", "qemu-system-i386", "qemu-system-aarch64",
                            "qemu-system-riscv64", "qemu-kvm", "kvm"})
    for (const std::filesystem::path& program : all)
      if (program.filename() == known) found.push_back(program);
  return found;
}

constexpr const char* kInstallQemu = "install qemu-system-x86 (or -arm, -riscv, -misc)";

void say_qemus() {
  print("\nQEMU in PATH\n");
  const auto programs = own_qemus();
  for (const std::filesystem::path& program : programs) {
    const auto facts = ask(program);
    say_of(program.filename().string(),
           facts ? fmt::format("{}: {}", facts->version->to_string(), abilities_of(facts->plugin))
                 : facts.error().message);
  }
  if (programs.empty()) say_of("none", kInstallQemu);
}

constexpr const char* kFromFileOnly =
    "is not asked: only the project file names it; give it behind --";

bool is_from_file_only(const std::vector<std::string>& command, bool is_from_file) {
  return is_from_file && command[0].find('/') != std::string::npos;
}

// The plugin's path alone, for the QEMU that is named. Without one, the first QEMU in PATH that
// loads a plugin decides which; a project's command line may be one that only starts QEMU.
Result<void> say_plugin(const std::vector<std::string>& command, bool is_from_file) {
  std::vector<std::string> programs;
  if (!command.empty() && launch::is_qemu_program(command[0])) {
    if (is_from_file_only(command, is_from_file))
      return fail(ErrorCode::kUnsupported, "{} {}", command[0], kFromFileOnly);
    programs = {command[0]};
  } else if (!command.empty() && !is_from_file) {
    RINGSIDE_TRY(check_is_there(command[0]));
    return fail(ErrorCode::kUnsupported,
                "{} is not QEMU, and the plugin depends on the QEMU that it starts: name that one, "
                "such as -- qemu-system-x86_64",
                command[0]);
  } else {
    for (const std::filesystem::path& program : own_qemus()) programs.push_back(program);
  }
  if (programs.empty())
    return fail(ErrorCode::kNotFound, "no QEMU is in PATH, and the plugin depends on it; {}",
                kInstallQemu);
  std::string why_not;
  for (const std::string& program : programs) {
    const auto facts = ask(program);
    if (facts && !facts->plugin.file.path.empty()) {
      print(facts->plugin.file.path.string() + "\n");
      return {};
    }
    if (!why_not.empty()) continue;
    why_not = facts ? no_plugin_for(facts->plugin) : facts.error().message;
  }
  return fail(ErrorCode::kUnsupported, "{}", why_not);
}

// Nothing is run that only a project file names; a name without a folder is looked for in PATH,
// whose QEMUs are asked anyway.
Result<void> say_command(const std::vector<std::string>& command, bool is_from_file) {
  print("\nThis command line\n");
  if (!is_from_file) RINGSIDE_TRY(check_is_there(command[0]));
  if (!launch::is_qemu_program(command[0])) {
    say_of(command[0],
           "is not QEMU; ringside looks at the command line of the QEMU that it starts");
    return {};
  }
  if (is_from_file_only(command, is_from_file)) {
    say_of(command[0], kFromFileOnly);
    return {};
  }
  if (std::string why = launch::explain_unknown_architecture(command[0]); !why.empty())
    return fail(ErrorCode::kUnsupported, "{}", why);
  RINGSIDE_ASSIGN(const launch::QemuFacts facts, ask(command[0]));
  const launch::QemuCommand parsed({command.begin() + 1, command.end()});
  RINGSIDE_ASSIGN(const auto choice,
                  launch::choose_engine(launch::EngineKind::kAuto, parsed, facts));
  say_of("engine", fmt::format("{}: {}", name_of(choice.engine), choice.why));
  if (!choice.better.empty()) say_of("better", choice.better);
  if (choice.engine == launch::EngineKind::kGdb && (parsed.has("s") || parsed.has("gdb")))
    say_of("gdb stub", "the command line's own is used; no debugger can use it meanwhile");
  return {};
}

}  // namespace

void DoctorVerb::add_options(App& app) {
  Option* input =
      app.add_option("-i,--input", input_, "Also say why stacks of this recording are broken")
          ->type_name("FILE");
  Option* plugin =
      app.add_flag("--plugin", only_plugin_,
                   "Print only the path of the TCG plugin for QEMU's -plugin: the one that the "
                   "QEMU behind -- loads, else the first QEMU in PATH that loads one")
          ->excludes(input);
  Option* cache = app.add_flag("--cache", cache_,
                               "Only list the kernels that are kept decoded in the user's cache "
                               "folder")
                      ->excludes(input)
                      ->excludes(plugin);
  app.add_flag("--clear-cache", clear_cache_,
               "Only remove the kernels that are kept decoded in the user's cache folder")
      ->excludes(input)
      ->excludes(plugin)
      ->excludes(cache);
}

Result<void> DoctorVerb::run(const std::vector<std::string>& command) {
  if (clear_cache_) return clear_cache();
  if (cache_) {
    say_cache();
    return {};
  }
  if (only_plugin_) return say_plugin(command, !command_folder_.empty());
  say_machine();
  say_qemus();
  if (!command.empty()) RINGSIDE_TRY(say_command(command, !command_folder_.empty()));
  if (!input_.empty()) RINGSIDE_TRY(say_recording(input_));
  return {};
}

}  // namespace ringside::cli
