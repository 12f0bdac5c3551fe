#include "wire/host_wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace ringside::wire {

HostWait::HostWait(const char* schedstat) : file_(::open(schedstat, O_RDONLY | O_CLOEXEC)) {}

HostWait::Times HostWait::times() const {
  std::array<char, 80> text{};
  if (!is_open() || ::pread(file_.get(), text.data(), text.size() - 1, 0) <= 0) return {};
  Times times;
  char* after_first = nullptr;
  times.ran_ns = std::strtoull(text.data(), &after_first, 10);
  times.waited_ns = std::strtoull(after_first, nullptr, 10);
  return times;
}

std::uint64_t own_wait_ns() {
  static thread_local const HostWait own("/proc/thread-self/schedstat");
  return own.total_ns();
}

}  // namespace ringside::wire
