#include "engines/gdb/stub_client.h"

#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace ringside::engines::gdb {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kLookAgain{20};

std::vector<std::string> words_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

// /proc/net/unix: Num RefCount Protocol Flags Type St Inode Path. A socket that was accepted has
// the path of the one that listens; one that waits to be accepted has the inode 0.
bool has_unix_client(const std::string& path) {
  std::error_code error;
  const std::string canonical = std::filesystem::weakly_canonical(path, error).string();
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    const auto words = words_of(line);
    if (words.size() != 8 || words[3] != "00000000" || words[6] == "0") continue;
    if (words[7] == path || words[7] == canonical) return true;
  }
  return false;
}

bool is_of_this_machine(const std::string& host) {
  return host.empty() || host == "localhost" || host == "::1" || host.starts_with("127.");
}

// /proc/net/tcp: sl local_address rem_address st … uid timeout inode. State 01: connected; again a
// connection that waits to be accepted has the inode 0.
bool has_tcp_client(const SocketAddress& address) {
  unsigned port = 0;
  const char* const end = address.port.data() + address.port.size();
  const auto parsed = std::from_chars(address.port.data(), end, port);
  if (parsed.ec != std::errc{} || parsed.ptr != end || !is_of_this_machine(address.host))
    return false;
  const std::string ending = fmt::format(":{:04X}", port);
  bool listens = false;
  bool serves = false;
  for (const char* name : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(name);
    for (std::string line; std::getline(table, line);) {
      const auto words = words_of(line);
      if (words.size() < 10 || !words[1].ends_with(ending)) continue;
      listens |= words[3] == "0A";
      serves |= words[3] == "01" && words[9] != "0";
    }
  }
  return listens && serves;
}

}  // namespace

bool has_client(const SocketAddress& address) {
  return address.path.empty() ? has_tcp_client(address) : has_unix_client(address.path);
}

Result<void> wait_until_free(const SocketAddress& address, const Patience& patience) {
  const auto end = Clock::now() + patience.timeout;
  while (has_client(address)) {
    if (Clock::now() >= end || patience.over())
      return fail(ErrorCode::kTimeout,
                  "the gdb stub at {} serves another client, a debugger or another ringside, and "
                  "takes one at a time: end that one first (the guest was not touched)",
                  address.to_string());
    std::this_thread::sleep_for(kLookAgain);
  }
  return {};
}

}  // namespace ringside::engines::gdb
