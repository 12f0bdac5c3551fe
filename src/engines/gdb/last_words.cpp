#include "engines/gdb/last_words.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/clock.h"

namespace ringside::engines::gdb {
namespace {

// For a QEMU whose main loop hangs, as in slow storage. Nobody waits for the guardian meanwhile.
constexpr std::uint64_t kPatienceNs = 10'000'000'000;
constexpr int kQuietMs = 100;

// Reads what waits in the socket; true if a stop reply is in it.
bool stop_reply_within(int socket, int timeout_ms) {
  pollfd poll_fd{socket, POLLIN, 0};
  if (::poll(&poll_fd, 1, timeout_ms) <= 0) return false;
  char bytes[512];
  const ssize_t got = ::recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
  for (ssize_t i = 0; i + 1 < got; ++i) {
    if (bytes[i] == '$' && (bytes[i + 1] == 'T' || bytes[i + 1] == 'S')) return true;
  }
  return false;
}

// Sends the farewell and reads until its answer, so that the stub, which may be blocked writing
// replies that nobody reads, gets to it.
void say(int socket, std::string_view farewell) {
  const std::uint64_t deadline = monotonic_ns() + kPatienceNs;
  constexpr char kOk[] = "$OK#9a";
  char tail[sizeof(kOk) - 1] = {};
  std::size_t sent = 0;
  // An OK with nothing behind it may still be the answer to an earlier request.
  bool confirmed = false;
  for (;;) {
    const std::uint64_t now = monotonic_ns();
    if (now >= deadline) return;
    const short events = sent < farewell.size() ? POLLIN | POLLOUT : POLLIN;
    pollfd poll_fd{socket, events, 0};
    const int patience_ms =
        confirmed ? kQuietMs : static_cast<int>((deadline - now) / 1'000'000 + 1);
    if (::poll(&poll_fd, 1, patience_ms) <= 0) return;
    if (sent < farewell.size()) {
      const ssize_t put = ::send(socket, farewell.data() + sent, farewell.size() - sent,
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
    if (got > 0) confirmed = sent == farewell.size() && std::memcmp(tail, kOk, sizeof(tail)) == 0;
  }
}

bool needed(GuestState state, int socket) {
  switch (state) {
    case GuestState::kUnknown:
      return stop_reply_within(socket, 200);
    case GuestState::kRunning:
      return !stop_reply_within(socket, 0);
    case GuestState::kOurs:
      return true;
    case GuestState::kPaused:
      break;
  }
  return false;
}

}  // namespace

const LastWords kLastWords{needed, say, "+\x03#00$D;1#b0"};

}  // namespace ringside::engines::gdb
