#include "engines/peer_process.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace ringside::engines {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

// The inode of the first socket in a table of the kernel's that `is_it` takes; empty: none.
std::string inode_in(const char* table_name, std::size_t inode_word,
                     const std::function<bool(const Words&)>& is_it) {
  std::ifstream table(table_name);
  for (std::string line; std::getline(table, line);) {
    std::istringstream stream(line);
    Words words;
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.size() > inode_word && is_it(words)) return words[inode_word];
  }
  return {};
}

// /proc/net/unix: Num RefCount Protocol Flags Type St Inode Path; flag 0x10000: it listens.
std::string unix_listener(const std::string& path) {
  std::error_code error;
  const std::string wanted = fs::weakly_canonical(path, error).string();
  return inode_in("/proc/net/unix", 6, [&](const Words& words) {
    return words.size() == 8 && words[3] == "00010000" && (words[7] == path || words[7] == wanted);
  });
}

// /proc/net/tcp and tcp6: sl local_address rem_address st … uid timeout inode.
constexpr std::array<const char*, 2> kTcpTables{"/proc/net/tcp", "/proc/net/tcp6"};
constexpr std::size_t kTcpInode = 9;

// State 0A: it listens.
std::string tcp_listener(const SocketAddress& address) {
  unsigned port = 0;
  const char* const end = address.port.data() + address.port.size();
  const bool is_number = std::from_chars(address.port.data(), end, port).ptr == end && port != 0;
  const bool local = address.host.empty() || address.host == "localhost" ||
                     address.host.starts_with("127.") || address.host == "::1";
  if (!is_number || !local) return {};
  const std::string ending = fmt::format(":{:04X}", port);
  const auto is_it = [&](const Words& words) {
    return words[3] == "0A" && words[1].ends_with(ending);
  };
  std::string inode = inode_in(kTcpTables[0], kTcpInode, is_it);
  return inode.empty() ? inode_in(kTcpTables[1], kTcpInode, is_it) : inode;
}

// An end of a TCP connection as the tables spell it: 32-bit words of the address in hexadecimal, in
// the host's byte order, and the port. An IPv4 address has a second spelling, in tcp6.
struct TcpEnd {
  std::string v4;  // empty: an IPv6 address
  std::string v6;
};

TcpEnd end_of(const sockaddr_storage& address) {
  std::array<std::uint32_t, 4> words{0, 0, htonl(0xffff), 0};
  in_port_t port = 0;
  bool is_v4 = address.ss_family == AF_INET;
  if (is_v4) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    words[3] = v4.sin_addr.s_addr;
    port = ntohs(v4.sin_port);
  } else {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    is_v4 = IN6_IS_ADDR_V4MAPPED(&v6.sin6_addr);
    std::memcpy(words.data(), &v6.sin6_addr, sizeof(words));
    port = ntohs(v6.sin6_port);
  }
  TcpEnd end;
  if (is_v4) end.v4 = fmt::format("{:08X}:{:04X}", words[3], port);
  end.v6 =
      fmt::format("{:08X}{:08X}{:08X}{:08X}:{:04X}", words[0], words[1], words[2], words[3], port);
  return end;
}

// The socket whose peer is ours has our two addresses the other way round.
std::string tcp_peer(int socket) {
  sockaddr_storage ours{};
  sockaddr_storage theirs{};
  socklen_t our_size = sizeof(ours);
  socklen_t their_size = sizeof(theirs);
  const bool known = ::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &our_size) == 0 &&
                     ::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &their_size) == 0;
  if (!known || (ours.ss_family != AF_INET && ours.ss_family != AF_INET6)) return {};
  const TcpEnd here = end_of(ours);
  const TcpEnd there = end_of(theirs);
  const auto is_it = [](const std::string& local, const std::string& remote) {
    return [&](const Words& words) { return words[1] == local && words[2] == remote; };
  };
  std::string inode;
  if (!here.v4.empty() && !there.v4.empty())
    inode = inode_in(kTcpTables[0], kTcpInode, is_it(there.v4, here.v4));
  return inode.empty() ? inode_in(kTcpTables[1], kTcpInode, is_it(there.v6, here.v6)) : inode;
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

// A socket that nobody has accepted yet has inode 0.
pid_t owner_of(const std::string& inode) {
  if (inode.empty() || inode == "0") return 0;
  const std::string link = "socket:[" + inode + "]";
  std::error_code error;
  fs::directory_iterator processes("/proc", error);
  for (; !error && processes != fs::directory_iterator(); processes.increment(error)) {
    const std::string name = processes->path().filename().string();
    pid_t pid = 0;
    const bool is_process = std::from_chars(name.data(), name.data() + name.size(), pid).ptr ==
                            name.data() + name.size();
    if (is_process && has_socket(processes->path(), link)) return pid;
  }
  return 0;
}

}  // namespace

pid_t listener_at(const SocketAddress& address) {
  return owner_of(address.path.empty() ? tcp_listener(address) : unix_listener(address.path));
}

pid_t process_behind(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known && peer.pid > 0 ? peer.pid : owner_of(tcp_peer(socket));
}

}  // namespace ringside::engines
