#include "launch/qemu_shim.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <set>

#include "base/fd.h"
#include "base/file.h"
#include "launch/launch_info.h"
#include "launch/qemu_command.h"
#include "launch/serial_tap.h"

namespace ringside::launch {
namespace {

constexpr const char* kTapRequest = "tap-serial";

std::vector<std::string> split_path(const std::string& path) {
  std::vector<std::string> folders;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return folders;
}

std::string shell_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text)
    if (c == '\'')
      result += "'\\''";
    else
      result += c;
  return result + "'";
}

// True for the first caller only.
bool claim(const std::filesystem::path& folder) {
  return UniqueFd(
             ::open((folder / "claimed").c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600))
      .valid();
}

Result<LaunchInfo> prepare(const std::filesystem::path& folder, QemuCommand& command) {
  LaunchInfo info;
  info.waits_for_continue = command.has("S");
  info.uses_terminal = command.uses_terminal();
  info.terminal_is_raw = command.terminal_is_raw();
  info.daemonizes = command.has("daemonize");
  std::error_code ignored;
  if (const auto kernel = command.value_of("kernel"))
    info.kernel = std::filesystem::absolute(*kernel, ignored).string();
  RINGSIDE_ASSIGN(const auto gdb, command.gdb_address());
  info.gdb_is_the_users = gdb.has_value();
  // ringside may be in another folder than the wrapper.
  std::string users = gdb.value_or("");
  if (users.starts_with("unix:"))
    users = "unix:" + std::filesystem::absolute(users.substr(5), ignored).string();
  // A second -gdb makes QEMU exit ("duplicate yank instance"), so the user's own is used as it is.
  info.gdb_address = gdb ? users : "unix:" + (folder / "gdb").string() + ",server=on,wait=off";
  if (!gdb) command.add("gdb", info.gdb_address);
  if (std::filesystem::exists(folder / kTapRequest)) {
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
  std::set<std::string> done;
  for (const std::string& place : split_path(path)) {
    std::filesystem::directory_iterator entries(place, error);
    for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
      const std::filesystem::path& program = entries->path();
      const std::string name = program.filename().string();
      if (!is_qemu_program(name) || ::access(program.c_str(), X_OK) != 0) continue;
      if (!done.insert(name).second) continue;
      const std::string shim =
          fmt::format("#!/bin/sh\nexec {} {} {} {} \"$@\"\n", shell_quoted(self.string()),
                      kShimOption, shell_quoted(folder.string()), shell_quoted(program.string()));
      RINGSIDE_TRY(write_output(bin / name, shim));
      ::chmod((bin / name).c_str(), 0700);
    }
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

  auto info = prepare(folder, command);
  if (!info) {
    LaunchInfo failed;
    failed.error = info.error().message;
    info = failed;
  } else {
    arguments = command.arguments();
  }
  info->pid = ::getpid();
  info->program = program;
  info->arguments = arguments;
  RINGSIDE_TRY(info->write(folder));
  return become(program, arguments);
}

Result<void> request_serial_tap(const std::filesystem::path& folder) {
  return write_output(folder / kTapRequest, "");
}

}  // namespace ringside::launch
