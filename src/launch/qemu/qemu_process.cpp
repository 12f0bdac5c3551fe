#include "launch/qemu/qemu_process.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace ringside::launch {
namespace {

void send(const UniqueFd& pidfd, int signal) {
  ::syscall(SYS_pidfd_send_signal, pidfd.get(), signal, nullptr, 0);
}

}  // namespace

// glibc 2.36 declares pidfd_open() without C linkage.
QemuProcess::QemuProcess(pid_t pid) : pidfd_(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))) {}

bool QemuProcess::ends_within(int milliseconds) const {
  pollfd poll_fd{pidfd_.get(), POLLIN, 0};
  return ::poll(&poll_fd, 1, milliseconds) > 0;
}

void QemuProcess::end(int patience_ms) const {
  send(pidfd_, SIGTERM);
  if (!ends_within(patience_ms)) send(pidfd_, SIGKILL);
}

}  // namespace ringside::launch
