#include "views/comparison/unlike.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "arch/arch_info.h"

namespace ringside::views {
namespace {

// QEMU's options that change how fast which code runs.
constexpr std::array<std::string_view, 8> kMachineOptions = {
    "-accel", "-cpu", "-icount", "-m", "-M", "-machine", "-smp", "-enable-kvm"};
constexpr double kSameInterval = 0.01;  // relative

bool is_machine_option(std::string_view word) {
  if (word.starts_with("--")) word.remove_prefix(1);
  return std::find(kMachineOptions.begin(), kMachineOptions.end(), word) != kMachineOptions.end();
}

// The part of a command line that is about the machine.
std::string machine_of(const std::vector<std::string>& command) {
  std::string text;
  if (command.empty()) return text;
  text = command.front().substr(command.front().rfind('/') + 1);
  for (std::size_t i = 1; i < command.size(); ++i) {
    if (!is_machine_option(command[i])) continue;
    text += " " + command[i];
    if (i + 1 < command.size() && !command[i + 1].starts_with('-')) text += " " + command[i + 1];
  }
  return text;
}

// A command line of QEMU's without the files whose contents are the build, or that it writes.
std::vector<std::string_view> without_files(const std::vector<std::string>& words) {
  constexpr std::string_view kFiles[] = {"kernel", "initrd", "serial", "pidfile", "D"};
  std::vector<std::string_view> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view option = words[i];
    while (option.starts_with('-')) option.remove_prefix(1);
    kept.push_back(words[i]);
    if (option != words[i] &&
        std::find(std::begin(kFiles), std::end(kFiles), option) != std::end(kFiles))
      ++i;
  }
  return kept;
}

class Differences {
 public:
  void add(std::string_view what, const std::string& before, const std::string& after) {
    if (before != after && !before.empty() && !after.empty())
      texts.push_back(fmt::format("{} {} and {}", what, before, after));
  }
  std::vector<std::string> texts;
};

std::string count_of(std::uint64_t count) { return count == 0 ? "" : std::to_string(count); }

std::string interval_of(std::uint64_t interval_ns) {
  return interval_ns == 0 ? "" : fmt::format("{:.3g} ms", static_cast<double>(interval_ns) / 1e6);
}

std::string arch_of(Arch arch) {
  return arch == Arch::kUnknown ? "" : std::string(arch::name_of(arch));
}

bool are_alike(std::uint64_t a, std::uint64_t b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b)) <=
         kSameInterval * static_cast<double>(std::max(a, b));
}

}  // namespace

std::vector<std::string> unlikeness(const SampledFunctions& before, const SampledFunctions& after) {
  const recording::Header& old = before.header();
  const recording::Header& now = after.header();
  Differences found;
  found.add("architecture", arch_of(old.arch), arch_of(now.arch));
  found.add("engine", old.engine, now.engine);
  if (!are_alike(old.interval_ns, now.interval_ns))
    found.add("interval", interval_of(old.interval_ns), interval_of(now.interval_ns));
  found.add("unit", before.unit(), after.unit());
  found.add("vCPUs", count_of(old.vcpu_count), count_of(now.vcpu_count));
  found.add("QEMU", old.qemu_version, now.qemu_version);
  found.add("host", old.host, now.host);
  found.add("machine", machine_of(old.command_line), machine_of(now.command_line));
  return std::move(found.texts);
}

bool are_of_one_run(const recording::Header& before, const recording::Header& after) {
  return before.deterministic_seed && before.deterministic_seed == after.deterministic_seed &&
         before.interval_ns == after.interval_ns && before.arch == after.arch &&
         before.qemu_version == after.qemu_version &&
         without_files(before.command_line) == without_files(after.command_line);
}

}  // namespace ringside::views
