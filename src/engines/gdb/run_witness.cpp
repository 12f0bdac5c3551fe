#include "engines/gdb/run_witness.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace ringside::engines::gdb {
namespace {

namespace fs = std::filesystem;

// A vCPU's thread tells that it has stopped just before it sleeps.
constexpr unsigned kPatienceUs = 20'000;

template <class Number>
std::optional<Number> number(std::string_view text, int base = 10) {
  Number value{};
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// /proc/net/unix: Num RefCount Protocol Flags Type St Inode Path; flag 0x10000: it listens.
std::string unix_inode(const std::string& path) {
  std::error_code error;
  const fs::path wanted = fs::weakly_canonical(path, error);
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    const auto words = words_of(line);
    if (words.size() != 8 || words[3] != "00010000") continue;
    if (words[7] == path || words[7] == wanted.string()) return words[6];
  }
  return {};
}

// /proc/net/tcp: sl local_address rem_address st … uid timeout inode; state 0A: it listens.
std::string tcp_inode(const SocketAddress& address) {
  const auto port = number<unsigned>(address.port);
  const bool local = address.host.empty() || address.host == "localhost" ||
                     address.host.starts_with("127.") || address.host == "::1";
  if (!port || !local) return {};
  const std::string ending = fmt::format(":{:04X}", *port);
  for (const char* name : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(name);
    for (std::string line; std::getline(table, line);) {
      const auto words = words_of(line);
      if (words.size() > 9 && words[3] == "0A" && words[1].ends_with(ending)) return words[9];
    }
  }
  return {};
}

bool has_socket(const fs::path& process, const std::string& link) {
  std::error_code error;
  fs::directory_iterator entries(process / "fd", error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    std::error_code ignored;
    if (fs::read_symlink(entries->path(), ignored) == link) return true;
  }
  return false;
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

pid_t listener_at(const SocketAddress& address) {
  const std::string inode = address.path.empty() ? tcp_inode(address) : unix_inode(address.path);
  if (inode.empty()) return 0;
  const std::string link = "socket:[" + inode + "]";
  std::error_code error;
  fs::directory_iterator processes("/proc", error);
  for (; !error && processes != fs::directory_iterator(); processes.increment(error)) {
    const auto pid = number<pid_t>(processes->path().filename().string());
    if (pid && has_socket(processes->path(), link)) return *pid;
  }
  return 0;
}

RunWitness::RunWitness(pid_t process) : process_(process) {
  if (process <= 0) return;
  std::error_code error;
  fs::directory_iterator threads(fmt::format("/proc/{}/task", process), error);
  for (; !error && threads != fs::directory_iterator(); threads.increment(error)) {
    const auto thread = number<pid_t>(threads->path().filename().string());
    if (!thread) continue;
    if (const auto switches = switches_of(process, *thread)) switches_[*thread] = *switches;
  }
}

std::optional<bool> RunWitness::any_has_run(std::span<const pid_t> threads) const {
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
