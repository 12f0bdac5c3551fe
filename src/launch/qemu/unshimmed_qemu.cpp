#include "launch/qemu/unshimmed_qemu.h"

#include <fmt/core.h>

#include <charconv>
#include <map>

#include "base/read_text.h"
#include "base/socket.h"
#include "launch/qemu/processes.h"
#include "launch/qemu/qemu_command.h"

namespace ringside::launch {
namespace {

namespace fs = std::filesystem;

// Each process's parent. In /proc/PID/stat the name, which may hold anything, is in parentheses
// before the state and the parent (proc(5)).
std::map<pid_t, pid_t> parents() {
  std::map<pid_t, pid_t> all;
  for (const pid_t process : all_processes()) {
    const std::string stat = read_text(fmt::format("/proc/{}/stat", process));
    const std::size_t behind_name = stat.rfind(") ");
    if (behind_name == std::string::npos || behind_name + 4 > stat.size()) continue;
    pid_t parent = 0;
    std::from_chars(stat.data() + behind_name + 4, stat.data() + stat.size(), parent);
    all[process] = parent;
  }
  return all;
}

// Started by the command, and not by a shim.
bool is_below(pid_t process, pid_t command, const std::map<pid_t, pid_t>& parents,
              const fs::path& self) {
  // Numbers that were used again while /proc was read may make a circle.
  for (std::size_t n = 0; process != command; ++n) {
    if (n > parents.size()) return false;
    const auto parent = parents.find(process);
    if (parent == parents.end() || program_of(parent->second) == self) return false;
    process = parent->second;
  }
  return true;
}

// QEMU's paths are relative to its own folder.
std::string in_its_folder(const std::string& address, pid_t process) {
  if (!address.starts_with("unix:")) return address;
  const auto parsed = SocketAddress::parse(address);
  if (!parsed) return address;
  return "unix:" + escape_value((folder_of(process) / parsed->path).string());
}

LaunchInfo describe(pid_t process, const std::vector<std::string>& arguments,
                    const QemuCommand& command) {
  LaunchInfo info;
  info.pid = process;
  info.program = program_of(process);
  info.arguments = arguments;
  info.waits_for_continue = command.has("S");
  info.uses_terminal = command.uses_terminal();
  info.terminal_is_raw = command.terminal_is_raw();
  info.daemonizes = command.has("daemonize");
  const fs::path folder = folder_of(process);
  if (const auto kernel = command.value_of("kernel")) info.kernel = folder / *kernel;
  if (const auto initrd = command.value_of("initrd")) info.initrd = folder / *initrd;
  info.choice.why = "a wrapper starts " + info.program +
                    " by its path, or with a PATH of its own, so ringside cannot add options";
  const auto stub = command.gdb_address();
  const auto monitor = command.value_of("qmp");
  if (stub && *stub) {
    info.choice.engine = EngineKind::kGdb;
    info.gdb_address = in_its_folder(**stub, process);
    info.gdb_is_the_users = true;
  } else if (monitor && (monitor->starts_with("unix:") || monitor->starts_with("tcp:"))) {
    info.choice.engine = EngineKind::kQmp;
    info.qmp_address = in_its_folder(*monitor, process);
  } else {
    info.error = fmt::format(
        "{}, and this QEMU has no -s, -gdb or -qmp (unix: or tcp:): let the wrapper start {} "
        "through PATH, or add -s there",
        info.choice.why, fs::path(info.program).filename().string());
  }
  info.choice.better = "start QEMU through PATH";
  return info;
}

}  // namespace

std::optional<LaunchInfo> find_unshimmed_qemu(pid_t command, const fs::path& self) {
  const auto all = parents();
  for (const auto& [process, parent] : all) {
    if (!is_qemu_program(program_of(process).native()) || !is_below(process, command, all, self))
      continue;
    const std::vector<std::string> arguments = arguments_of(process);
    const QemuCommand options(arguments);
    if (!options.only_prints()) return describe(process, arguments, options);
  }
  return std::nullopt;
}

}  // namespace ringside::launch
