#include "engines/guest_claim.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <thread>

namespace ringside::engines {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{20};

struct Name {
  sockaddr_un address{};
  socklen_t size = 0;
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

// Abstract names begin with a zero byte.
Name name_of(pid_t qemu) {
  Name name;
  name.address.sun_family = AF_UNIX;
  const std::string text = fmt::format("ringside-stops-{}", qemu);
  std::copy(text.begin(), text.end(), name.address.sun_path + 1);
  name.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

// The process that has the claim; 0 where there is none any more.
pid_t owner_of(const Name& name) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), name.get(), name.size) != 0) return 0;
  ucred other{};
  socklen_t size = sizeof(other);
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &other, &size) == 0 ? other.pid : 0;
}

}  // namespace

Result<GuestClaim> GuestClaim::take(pid_t qemu, std::chrono::milliseconds patience) {
  if (qemu <= 0) return GuestClaim();
  const Name name = name_of(qemu);
  for (const auto end = Clock::now() + patience;;) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!socket.valid()) return fail_errno("socket");
    if (::bind(socket.get(), name.get(), name.size) == 0) {
      if (::listen(socket.get(), SOMAXCONN) != 0) return fail_errno("listen");
      return GuestClaim(std::move(socket));
    }
    if (errno != EADDRINUSE) return fail_errno("bind of a Unix socket");
    const pid_t owner = owner_of(name);
    if (owner == ::getpid()) return GuestClaim();
    if (Clock::now() >= end)
      return fail(ErrorCode::kTimeout,
                  "another ringside (process {}) samples the guest of QEMU's process {} by stops: "
                  "end that one first, or sample with --engine tcg (the guest was not touched)",
                  owner, qemu);
    std::this_thread::sleep_for(kPollInterval);
  }
}

}  // namespace ringside::engines
