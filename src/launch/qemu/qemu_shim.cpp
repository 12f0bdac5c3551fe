#include "launch/qemu/qemu_shim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/atomic_file.h"
#include "base/fd.h"
#include "base/shell_word.h"
#include "launch/deterministic.h"
#include "launch/engine_choice.h"
#include "launch/host_facts.h"
#include "launch/launch_info.h"
#include "launch/launch_request.h"
#include "launch/path_search.h"
#include "launch/qemu/qemu_command.h"
#include "launch/qemu/qemu_version.h"
#include "launch/serial_tap.h"

namespace ringside::launch {
namespace {

// True for the first caller only.
bool claim(const std::filesystem::path& folder) {
  return UniqueFd(
             ::open((folder / "claimed").c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600))
      .valid();
}

// The user's stub where there is one: a second -gdb makes QEMU exit ("duplicate yank instance").
Result<void> use_gdb(const std::filesystem::path& folder, QemuCommand& command, LaunchInfo& info) {
  RINGSIDE_ASSIGN(const auto users, command.gdb_address());
  info.gdb_is_the_users = users.has_value();
  std::error_code ignored;
  if (!users) {
    info.gdb_address = "unix:" + escape_value((folder / "gdb").string()) + ",server=on,wait=off";
    command.add("gdb", info.gdb_address);
  } else if (users->starts_with("unix:")) {
    // ringside may be in another folder than the wrapper.
    info.gdb_address = "unix:" + std::filesystem::absolute(users->substr(5), ignored).string();
  } else {
    info.gdb_address = *users;
  }
  return {};
}

// A monitor of ringside's own, beside those that the user has.
void use_monitor(const std::filesystem::path& folder, QemuCommand& command, LaunchInfo& info) {
  info.qmp_address = "unix:" + escape_value((folder / "qmp").string());
  command.add("qmp", info.qmp_address + ",server=on,wait=off");
}

// Plugins of the user's stay; QEMU loads any number.
void use_plugin(const std::filesystem::path& folder, const LaunchRequest& request,
                const QemuFacts& facts, QemuCommand& command, LaunchInfo& info) {
  info.ring = (folder / "ring").string();
  info.plugin = facts.plugin.file.path.string();
  // The guest waits for ringside before its first instruction.
  const std::string pace = request.deterministic ? ",clock=instructions,wait=on" : "";
  command.add("plugin",
              "file=" + escape_value(info.plugin) + ",ring=" + escape_value(info.ring) + pace);
  // While a vCPU waits for ringside, a QEMU that records or replays answers no monitor: the vCPU's
  // thread holds the lock of the log.
  if (!records_or_replays(command)) use_monitor(folder, command, info);
}

// Only the plugin counts instructions.
Result<void> check_deterministic(const EngineChoice& choice) {
  if (choice.engine == EngineKind::kTcg) return {};
  if (choice.why == kAskedFor)
    return fail(ErrorCode::kUnsupported,
                "--deterministic needs the tcg engine, which samples by the guest's instructions: "
                "leave out --engine {}",
                name_of(choice.engine));
  return fail(
      ErrorCode::kUnsupported,
      "--deterministic needs the tcg engine, which samples by the guest's instructions: {}{}{}",
      choice.why, choice.better.empty() ? "" : "; ", choice.better);
}

// The program is asked for its version even where it is a script: it is to be started anyway.
QemuFacts find_facts(const std::string& program, const LaunchRequest& request) {
  QemuFacts facts;
  facts.program = program;
  facts.kvm_is_usable = kvm_is_usable();
  if (const auto version = ask_qemu_version(program)) facts.version = *version;
  facts.by_instructions = request.deterministic;
  facts.states = request.states;
  const bool may_be_tcg = request.engine == EngineKind::kAuto || request.engine == EngineKind::kTcg;
  if (!may_be_tcg) return facts;
  if (request.plugin_failed)
    facts.plugin.why = "QEMU has ended at once with the TCG plugin";
  else
    facts.plugin =
        choose_plugin(program, facts.version, plugin_family(request.plugin), PluginApiCache());
  return facts;
}

Result<LaunchInfo> prepare(const std::filesystem::path& folder, const std::string& program,
                           const LaunchRequest& request, QemuCommand& command) {
  LaunchInfo info;
  if (info.error = explain_unknown_architecture(program); !info.error.empty()) {
    info.refused = true;
    return info;
  }
  info.waits_for_continue = command.has("S");
  info.uses_terminal = command.uses_terminal();
  info.terminal_is_raw = command.terminal_is_raw();
  info.daemonizes = command.has("daemonize");
  std::error_code ignored;
  if (const auto kernel = command.value_of("kernel")) {
    info.kernel = std::filesystem::absolute(*kernel, ignored).string();
    if (!std::filesystem::exists(info.kernel, ignored)) {
      info.refused = true;
      info.error = "QEMU's -kernel: there is no file " + *kernel + " (" + info.kernel + ")";
      return info;
    }
  }
  if (const auto initrd = command.value_of("initrd"))
    info.initrd = std::filesystem::absolute(*initrd, ignored).string();
  const QemuFacts facts = find_facts(program, request);
  RINGSIDE_ASSIGN(info.choice, choose_engine(request.engine, command, facts));
  if (request.deterministic) {
    RINGSIDE_TRY(check_deterministic(info.choice));
    RINGSIDE_ASSIGN(Determinism made, make_deterministic(command, "tcg", request.seed));
    info.warnings = std::move(made.warnings);
    info.is_deterministic = !made.follows_host;
    info.instruction_ns = instruction_ns(command);
  }
  if (info.choice.engine == EngineKind::kTcg)
    use_plugin(folder, request, facts, command, info);
  else if (info.choice.engine == EngineKind::kQmp || info.choice.engine == EngineKind::kRing)
    use_monitor(folder, command, info);
  else
    RINGSIDE_TRY(use_gdb(folder, command, info));
  if (request.taps_serial) {
    RINGSIDE_ASSIGN(const auto log, tap_serial_port(command, folder / "serial.log"));
    info.serial_log = std::filesystem::absolute(log, ignored).string();
  }
  return info;
}

Result<void> become(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  ::execvp(program.c_str(), argv.data());
  return fail_errno("cannot start " + program);
}

}  // namespace

Result<void> write_shims(const std::filesystem::path& folder, const std::filesystem::path& self,
                         const std::string& path) {
  const std::filesystem::path bin = folder / "bin";
  std::error_code error;
  std::filesystem::create_directory(bin, error);
  if (error) return fail(ErrorCode::kIo, "cannot make {}: {}", bin.string(), error.message());
  for (const std::filesystem::path& program : qemus_in(path)) {
    const std::string name = program.filename().string();
    const std::string shim =
        fmt::format("#!/bin/sh\nexec {} {} {} {} \"$@\"\n", shell_word(self.string()), kShimOption,
                    shell_word(folder.string()), shell_word(program.string()));
    RINGSIDE_TRY(write_output(bin / name, shim));
    ::chmod((bin / name).c_str(), 0700);
  }
  return {};
}

std::string path_with_shims(const std::filesystem::path& folder, const std::string& path) {
  return (folder / "bin").string() + ":" + path;
}

std::string path_without_shims(const std::filesystem::path& folder, const std::string& path) {
  std::string result;
  for (const std::string& place : split_path(path))
    if (place != (folder / "bin").string()) result += (result.empty() ? "" : ":") + place;
  return result;
}

Result<void> run_qemu_shim(const std::filesystem::path& folder, const std::string& program,
                           std::vector<std::string> arguments) {
  if (const char* path = std::getenv("PATH"))
    ::setenv("PATH", path_without_shims(folder, path).c_str(), 1);
  QemuCommand command(arguments);
  if (command.only_prints() || !claim(folder)) return become(program, arguments);

  RINGSIDE_ASSIGN(const auto request, LaunchRequest::read(folder));
  auto info = prepare(folder, program, request, command);
  if (!info) {
    LaunchInfo failed;
    failed.error = info.error().message;
    failed.refused = request.engine != EngineKind::kAuto || request.deterministic;
    info = failed;
  } else {
    arguments = command.arguments();
  }
  info->pid = ::getpid();
  info->program = program;
  info->arguments = arguments;
  if (auto written = info->write(folder); !written) {
    // A signal has ended ringside meanwhile, and it has removed its folder.
    std::error_code ignored;
    if (std::filesystem::exists(folder, ignored)) return written;
    return fail(ErrorCode::kClosed, "ringside has ended, so {} is not started", program);
  }
  if (info->refused) return fail(ErrorCode::kUnsupported, "{}", "");  // ringside says why
  return become(program, arguments);
}

}  // namespace ringside::launch
