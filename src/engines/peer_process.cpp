#include "engines/peer_process.h"

#include <sys/socket.h>

#include <charconv>
#include <filesystem>
#include <string>

#include "engines/socket_tables.h"

namespace ringside::engines {
namespace {

namespace fs = std::filesystem;

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
  for (const ServerSocket& socket : server_sockets(address))
    if (socket.listens) return owner_of(socket.inode);
  return 0;
}

pid_t process_behind(int socket) {
  ucred peer{};
  socklen_t size = sizeof(peer);
  const bool known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  return known && peer.pid > 0 ? peer.pid : owner_of(inode_of_tcp_peer(socket));
}

}  // namespace ringside::engines
