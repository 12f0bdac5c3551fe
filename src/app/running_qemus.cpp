#include "app/running_qemus.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "app/listening_process.h"
#include "base/shell_word.h"
#include "base/socket.h"
#include "launch/private_folder.h"
#include "launch/qemu/processes.h"
#include "launch/qemu/qemu_command.h"

namespace ringside::app {
namespace {

struct WayIn {
  std::string option;
  std::string address;  // as people write it
};

// QEMU's paths are relative to its own folder, and its hosts may be empty. Nothing where it does
// not listen there.
std::optional<WayIn> way_in(const char* option, const std::string& qemus, pid_t process) {
  if (!qemus.starts_with("unix:") && !qemus.starts_with("tcp:")) return std::nullopt;
  const auto parsed = SocketAddress::parse(qemus);
  if (!parsed) return std::nullopt;
  std::string address;
  if (parsed->path.empty()) {
    const bool is_any = parsed->host.empty() || parsed->host == "0.0.0.0" || parsed->host == "::";
    address = fmt::format("{}:{}", is_any ? "localhost" : parsed->host, parsed->port);
  } else {
    address = (launch::folder_of(process) / parsed->path).string();
  }
  if (listening_process(address) != process) return std::nullopt;
  return WayIn{option, address};
}

// The stub comes first: most monitors take one client at a time.
std::vector<WayIn> ways_in(pid_t process, const launch::QemuCommand& command) {
  std::vector<WayIn> ways;
  const auto add = [&](const char* option, const std::string& address) {
    if (auto way = way_in(option, address, process)) ways.push_back(std::move(*way));
  };
  if (const auto stub = command.gdb_address(); stub && *stub) add("--gdb", **stub);
  for (const launch::QemuCommand::Option& option : command.options())
    if (option.name == "qmp" && option.value) add("--qmp", *option.value);
  return ways;
}

std::string sentence(pid_t process, const launch::QemuCommand& command, const std::string& verb) {
  const auto ways = ways_in(process, command);
  if (ways.empty())
    return fmt::format(". QEMU {} runs, and listens at no -s, -gdb or -qmp", process);
  const bool is_sampled = std::any_of(ways.begin(), ways.end(), [](const WayIn& way) {
    return launch::is_in_private_folder(way.address);
  });
  if (is_sampled) return fmt::format(". Another ringside has started QEMU {}", process);
  return fmt::format(". QEMU {} runs: 'ringside {} {} {}'", process, verb, ways.front().option,
                     shell_word(ways.front().address));
}

}  // namespace

std::string running_qemus_in_words(const std::string& verb) {
  constexpr std::size_t kMost = 8;
  auto processes = launch::all_processes();
  std::sort(processes.rbegin(), processes.rend());
  std::string words;
  std::size_t count = 0;
  for (const pid_t process : processes) {
    if (!launch::is_this_users(process) ||
        !launch::is_qemu_program(launch::program_of(process).native()))
      continue;
    const launch::QemuCommand command(launch::arguments_of(process));
    if (command.only_prints()) continue;
    if (++count <= kMost) words += sentence(process, command, verb);
  }
  return count <= kMost ? words : words + fmt::format(". {} run", count);
}

}  // namespace ringside::app
