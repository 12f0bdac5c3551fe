#include "wire/host_wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace ringside::wire {

HostWait::HostWait(const char* schedstat) : file_(::open(schedstat, O_RDONLY | O_CLOEXEC)) {}

std::uint64_t HostWait::total_ns() const {
  std::array<char, 80> text{};
  if (!is_open() || ::pread(file_.get(), text.data(), text.size() - 1, 0) <= 0) return 0;
  char* after_first = nullptr;
  (void)std::strtoull(text.data(), &after_first, 10);
  return std::strtoull(after_first, nullptr, 10);
}

}  // namespace ringside::wire
