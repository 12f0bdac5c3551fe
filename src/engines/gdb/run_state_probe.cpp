#include "engines/gdb/run_state_probe.h"

#include <fmt/core.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ringside::engines::gdb {
namespace {

namespace fs = std::filesystem;

// A vCPU's thread reports that it has stopped just before it sleeps.
constexpr unsigned kPatienceUs = 20'000;

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

std::optional<std::uint64_t> switches_of(pid_t process, pid_t thread) {
  std::ifstream status(fmt::format("/proc/{}/task/{}/status", process, thread));
  std::optional<std::uint64_t> sum;
  for (std::string line; std::getline(status, line);) {
    if (line.find("voluntary_ctxt_switches:") == line.npos) continue;  // "nonvoluntary…" too
    const auto words = words_of(line);
    if (words.size() != 2) return std::nullopt;
    sum = sum.value_or(0) + number<std::uint64_t>(words[1]).value_or(0);
  }
  return sum;
}

}  // namespace

RunStateProbe::RunStateProbe(pid_t process) : process_(process) {
  if (process <= 0) return;
  std::error_code error;
  fs::directory_iterator threads(fmt::format("/proc/{}/task", process), error);
  for (; !error && threads != fs::directory_iterator(); threads.increment(error)) {
    const auto thread = number<pid_t>(threads->path().filename().string());
    if (!thread) continue;
    if (const auto switches = switches_of(process, *thread)) switches_[*thread] = *switches;
  }
}

std::optional<bool> RunStateProbe::any_has_run(std::span<const pid_t> threads) const {
  if (threads.empty()) return std::nullopt;
  for (const bool last : {false, true}) {
    for (const pid_t thread : threads) {
      const auto before = switches_.find(thread);
      const auto now = switches_of(process_, thread);
      if (before == switches_.end() || !now) return std::nullopt;
      if (*now != before->second) return true;
    }
    if (!last) ::usleep(kPatienceUs);
  }
  return false;
}

std::vector<pid_t> vcpu_threads(std::string_view info_cpus) {
  constexpr std::string_view kKey = "thread_id=";
  std::vector<pid_t> threads;
  for (std::size_t at = 0; (at = info_cpus.find(kKey, at)) != info_cpus.npos;) {
    at += kKey.size();
    const auto end = info_cpus.find_first_not_of("0123456789", at);
    const auto thread = number<pid_t>(info_cpus.substr(at, end - at));
    if (thread && *thread > 0) threads.push_back(*thread);
  }
  return threads;
}

}  // namespace ringside::engines::gdb
