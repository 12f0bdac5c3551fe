#include "engines/qmp/detach_sequence.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

namespace ringside::engines::qmp {
namespace {

constexpr std::string_view kId = "\"ringside-guardian\"";

bool needed(GuestState state, int /*socket*/) { return state == GuestState::kOurs; }

// Sends the detach sequence and reads until its answer, without a time limit: a QEMU whose main
// loop hangs gets to it when it can, and nobody waits for the guardian.
void say(int socket, std::string_view detach_text) {
  std::size_t sent = 0;
  std::size_t matched = 0;  // of the id, which is in nothing else that QEMU writes
  while (true) {
    const short events = sent < detach_text.size() ? POLLIN | POLLOUT : POLLIN;
    pollfd poll_fd{socket, events, 0};
    if (::poll(&poll_fd, 1, -1) <= 0) return;
    if (sent < detach_text.size()) {
      const ssize_t put = ::send(socket, detach_text.data() + sent, detach_text.size() - sent,
                                 MSG_NOSIGNAL | MSG_DONTWAIT);
      if (put > 0) sent += static_cast<std::size_t>(put);
      if (put < 0 && errno != EAGAIN && errno != EINTR) return;
    }
    char bytes[4096];
    const ssize_t got = ::recv(socket, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return;
    for (ssize_t i = 0; i < got; ++i) {
      matched = bytes[i] == kId[matched] ? matched + 1 : bytes[i] == kId[0] ? 1 : 0;
      if (matched == kId.size()) return;
    }
  }
}

}  // namespace

const DetachSequence kDetachSequence{needed, say,
                                     "\xff\n{\"execute\":\"cont\",\"id\":\"ringside-guardian\"}\n"};

}  // namespace ringside::engines::qmp
