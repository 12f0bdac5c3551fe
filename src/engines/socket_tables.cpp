#include "engines/socket_tables.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace ringside::engines {
namespace {

using Row = std::vector<std::string>;

// Columns. /proc/net/unix: Num RefCount Protocol Flags Type St Inode Path; Path may be missing.
constexpr std::size_t kFlags = 3;
constexpr std::size_t kUnixInode = 6;
constexpr std::size_t kPath = 7;
// /proc/net/tcp and tcp6: sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode.
constexpr std::size_t kLocal = 1;
constexpr std::size_t kRemote = 2;
constexpr std::size_t kState = 3;
constexpr std::size_t kTcpInode = 9;

// Calls what(row) with each row of a table that reaches to a column. A path, which is the last, may
// have blanks.
template <class What>
void for_each_row(const char* table_name, std::size_t column, const What& what) {
  std::ifstream table(table_name);
  for (std::string line; std::getline(table, line);) {
    std::istringstream stream(line);
    Row row;
    std::string word;
    while (row.size() <= column && stream >> word) row.push_back(word);
    if (row.size() <= column) continue;
    if (column == kPath && std::getline(stream, word)) row.back() += word;
    what(row);
  }
}

// A socket that was accepted has the path of the one that listens.
std::vector<ServerSocket> unix_sockets(const std::string& path) {
  std::error_code error;
  const std::string canonical = std::filesystem::weakly_canonical(path, error).string();
  std::vector<ServerSocket> sockets;
  for_each_row("/proc/net/unix", kPath, [&](const Row& row) {
    if (row[kPath] != path && row[kPath] != canonical) return;
    if (row[kFlags] == "00010000")
      sockets.push_back({row[kUnixInode], true});
    else if (row[kFlags] == "00000000")
      sockets.push_back({row[kUnixInode], false});
  });
  return sockets;
}

bool is_of_this_machine(const std::string& host) {
  return host.empty() || host == "localhost" || host == "::1" || host.starts_with("127.");
}

std::vector<ServerSocket> tcp_sockets(const SocketAddress& address) {
  unsigned port = 0;
  const char* const end = address.port.data() + address.port.size();
  const bool is_number = std::from_chars(address.port.data(), end, port).ptr == end && port != 0;
  std::vector<ServerSocket> sockets;
  if (!is_number || !is_of_this_machine(address.host)) return sockets;
  const std::string ending = fmt::format(":{:04X}", port);
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"})
    for_each_row(table, kTcpInode, [&](const Row& row) {
      if (!row[kLocal].ends_with(ending)) return;
      if (row[kState] == "0A")
        sockets.push_back({row[kTcpInode], true});
      else if (row[kState] == "01")
        sockets.push_back({row[kTcpInode], false});
    });
  return sockets;
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

}  // namespace

std::vector<ServerSocket> server_sockets(const SocketAddress& address) {
  return address.path.empty() ? tcp_sockets(address) : unix_sockets(address.path);
}

// The socket whose peer is ours has our two addresses the other way round.
std::string inode_of_tcp_peer(int socket) {
  sockaddr_storage ours{};
  sockaddr_storage theirs{};
  socklen_t our_size = sizeof(ours);
  socklen_t their_size = sizeof(theirs);
  const bool known = ::getsockname(socket, reinterpret_cast<sockaddr*>(&ours), &our_size) == 0 &&
                     ::getpeername(socket, reinterpret_cast<sockaddr*>(&theirs), &their_size) == 0;
  if (!known || (ours.ss_family != AF_INET && ours.ss_family != AF_INET6)) return {};
  const TcpEnd here = end_of(ours);
  const TcpEnd there = end_of(theirs);
  std::string inode;
  const auto matching = [&inode](const std::string& local, const std::string& remote) {
    return [&](const Row& row) {
      if (inode.empty() && row[kLocal] == local && row[kRemote] == remote) inode = row[kTcpInode];
    };
  };
  if (!here.v4.empty() && !there.v4.empty())
    for_each_row("/proc/net/tcp", kTcpInode, matching(there.v4, here.v4));
  if (inode.empty()) for_each_row("/proc/net/tcp6", kTcpInode, matching(there.v6, here.v6));
  return inode;
}

}  // namespace ringside::engines
