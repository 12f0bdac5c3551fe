#include "engines/gdb/protocol/detach_sequence.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engines/gdb/protocol/late_answer.h"

namespace ringside::engines::gdb {
namespace {

constexpr int kQuietMs = 100;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // of a stub that does not end

// Reads what waits in the socket; true if a stop reply is in it.
bool has_stop_reply(int socket) {
  char bytes[512];
  const ssize_t got = ::recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
  for (ssize_t i = 0; i + 1 < got; ++i) {
    if (bytes[i] == '$' && (bytes[i + 1] == 'T' || bytes[i + 1] == 'S')) return true;
  }
  return false;
}

// Sends the detach sequence and reads until its answer, so that the stub, which may be blocked
// writing replies that nobody reads, gets to it. There is no time limit: a QEMU whose main loop
// hangs, or that serves another client first, gets to it when it can, and nobody waits for the
// guardian.
void say(int socket, std::string_view detach_text) {
  std::size_t heard = 0;
  constexpr char kOk[] = "$OK#9a";
  char tail[sizeof(kOk) - 1] = {};
  std::size_t sent = 0;
  // An OK with nothing behind it may still be the answer to an earlier request.
  bool confirmed = false;
  while (heard < kMostBytes) {
    const short events = sent < detach_text.size() ? POLLIN | POLLOUT : POLLIN;
    pollfd poll_fd{socket, events, 0};
    if (::poll(&poll_fd, 1, confirmed ? kQuietMs : -1) <= 0) return;
    if (sent < detach_text.size()) {
      const ssize_t put = ::send(socket, detach_text.data() + sent, detach_text.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put > 0) sent += static_cast<std::size_t>(put);
      if (put < 0 && errno != EAGAIN) return;
    }
    char bytes[4096];
    const ssize_t got = ::recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
    for (ssize_t i = 0; i < got; ++i) {
      std::memmove(tail, tail + 1, sizeof(tail) - 1);
      tail[sizeof(tail) - 1] = bytes[i];
    }
    heard += static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    if (got > 0)
      confirmed = sent == detach_text.size() && std::memcmp(tail, kOk, sizeof(tail)) == 0;
  }
}

bool needed(GuestState state, int socket) {
  switch (state) {
    case GuestState::kUnknown:
      return ran_before_connection(socket);
    case GuestState::kRunning:
      return !has_stop_reply(socket);
    case GuestState::kOurs:
      return true;
    case GuestState::kPaused:
      break;
  }
  return false;
}

}  // namespace

const DetachSequence kDetachSequence{needed, say, "+\x03#00$D;1#b0"};

}  // namespace ringside::engines::gdb
