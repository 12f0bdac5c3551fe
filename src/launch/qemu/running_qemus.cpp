#include "launch/qemu/running_qemus.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <optional>

#include "base/read_text.h"
#include "base/shell_word.h"
#include "base/socket.h"
#include "launch/qemu/qemu_command.h"

namespace ringside::launch {
namespace {

namespace fs = std::filesystem;

fs::path proc_of(pid_t process) { return fs::path("/proc") / std::to_string(process); }

bool is_this_users(pid_t process) {
  struct stat status {};
  return ::stat(proc_of(process).c_str(), &status) == 0 && status.st_uid == ::geteuid();
}

// As people write it: QEMU's paths are relative to its own folder, and its hosts may be empty.
std::optional<std::string> typed(const std::string& qemus, pid_t process) {
  auto address = SocketAddress::parse(qemus);
  if (!address) return std::nullopt;
  if (!address->path.empty()) return shell_word((folder_of(process) / address->path).string());
  const bool is_any = address->host.empty() || address->host == "0.0.0.0" || address->host == "::";
  return fmt::format("{}:{}", is_any ? "localhost" : address->host, address->port);
}

// The stub comes first: one connection at a time is what most monitors take.
std::string attach_to(pid_t process, const QemuCommand& command) {
  if (const auto stub = command.gdb_address(); stub && *stub)
    if (const auto address = typed(**stub, process)) return "--gdb " + *address;
  const auto monitor = command.value_of("qmp");
  if (monitor && (monitor->starts_with("unix:") || monitor->starts_with("tcp:")))
    if (const auto address = typed(*monitor, process)) return "--qmp " + *address;
  return {};
}

}  // namespace

std::vector<pid_t> all_processes() {
  std::vector<pid_t> all;
  std::error_code error;
  for (auto entry = fs::directory_iterator("/proc", error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename();
    pid_t process = 0;
    const auto parsed = std::from_chars(name.data(), name.data() + name.size(), process);
    if (parsed.ec == std::errc{}) all.push_back(process);
  }
  return all;
}

fs::path program_of(pid_t process) {
  std::error_code ignored;
  return fs::read_symlink(proc_of(process) / "exe", ignored);
}

fs::path folder_of(pid_t process) {
  std::error_code ignored;
  return fs::read_symlink(proc_of(process) / "cwd", ignored);
}

std::vector<std::string> command_line_of(pid_t process) {
  constexpr std::size_t kMostBytes = 1 << 20;
  std::vector<std::string> words;
  const std::string line = read_text(proc_of(process) / "cmdline", kMostBytes);
  for (std::size_t begin = 0; begin < line.size();) {
    const std::size_t end = std::min(line.find('\0', begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::vector<std::string> arguments_of(pid_t process) {
  auto words = command_line_of(process);
  if (!words.empty()) words.erase(words.begin());
  return words;
}

std::vector<RunningQemu> running_qemus() {
  std::vector<RunningQemu> running;
  for (const pid_t process : all_processes()) {
    if (!is_this_users(process) || !is_qemu_program(program_of(process).native())) continue;
    const QemuCommand command(arguments_of(process));
    if (!command.only_prints()) running.push_back({process, attach_to(process, command)});
  }
  return running;
}

std::string running_qemus_in_words(const std::string& verb) {
  constexpr std::size_t kMost = 4;
  const auto running = running_qemus();
  std::string words;
  for (const RunningQemu& qemu : running) {
    if (&qemu - running.data() == kMost) return words + fmt::format(". {} run", running.size());
    words += qemu.attach.empty()
                 ? fmt::format(". QEMU {} runs without -s, -gdb or -qmp", qemu.process)
                 : fmt::format(". QEMU {} runs: 'ringside {} {}'", qemu.process, verb, qemu.attach);
  }
  return words;
}

}  // namespace ringside::launch
