#pragma once

#include <sys/types.h>

#include <chrono>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace ringside::engines {

// One ringside at a time stops a guest: of two, each would take the other's stop for its user's,
// and the guest might stay paused when both have ended. A claim is a name in Linux's abstract
// namespace of Unix sockets (unix(7)), which the kernel frees with its process, however that ends.
// It does not keep anybody from a guest whose ringside is in another network namespace.
class GuestClaim {
 public:
  // None: of a guest whose QEMU is not known.
  GuestClaim() = default;
  // `qemu`: the process id of the guest's QEMU; 0 gives none. Another ringside's claim is waited
  // for until `patience` is over: kTimeout, and the message names it. A second claim of this
  // process is none, too.
  [[nodiscard]] static Result<GuestClaim> take(
      pid_t qemu, std::chrono::milliseconds patience = std::chrono::seconds(1));

 private:
  explicit GuestClaim(UniqueFd socket) : socket_(std::move(socket)) {}
  UniqueFd socket_;
};

}  // namespace ringside::engines
