#pragma once

#include <sched.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

#include "base/clock.h"

namespace ringside::testing {

inline pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

inline void burn(std::uint64_t ns) {
  for (const std::uint64_t end = monotonic_ns() + ns; monotonic_ns() < end;) {
  }
}

// Those that the caller may use.
inline cpu_set_t allowed_processors() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  ::sched_getaffinity(0, sizeof(allowed), &allowed);
  return allowed;
}

inline int first_of(const cpu_set_t& processors) {
  int cpu = 0;
  while (!CPU_ISSET(cpu, &processors)) ++cpu;
  return cpu;
}

// The thread, 0 for the calling one, runs on the first processor that the caller may use, and on no
// other.
inline void stay_on_one_processor(pid_t thread = 0) {
  const int cpu = first_of(allowed_processors());
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  ::sched_setaffinity(thread, sizeof(one), &one);
}

// While it lives, the calling thread runs on any processor but that one, where there is another.
class OnOtherProcessors {
 public:
  OnOtherProcessors() : allowed_(allowed_processors()) {
    cpu_set_t others = allowed_;
    CPU_CLR(first_of(allowed_), &others);
    ::sched_setaffinity(0, sizeof(others), &others);
  }
  ~OnOtherProcessors() { ::sched_setaffinity(0, sizeof(allowed_), &allowed_); }
  OnOtherProcessors(const OnOtherProcessors&) = delete;
  OnOtherProcessors& operator=(const OnOtherProcessors&) = delete;

 private:
  cpu_set_t allowed_;
};

// Threads that share one processor wait for each other.
template <std::size_t kThreads>
class RivalsOf {
 public:
  RivalsOf() {
    for (std::size_t n = 0; n < threads_.size(); ++n)
      threads_[n] = std::thread([this, n] {
        stay_on_one_processor();
        ids_[n] = this_thread();
        while (!stop_) burn(1'000'000);
      });
    for (const auto& id : ids_)
      while (id == 0) std::this_thread::yield();
  }
  ~RivalsOf() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }
  RivalsOf(const RivalsOf&) = delete;
  RivalsOf& operator=(const RivalsOf&) = delete;
  [[nodiscard]] std::array<pid_t, kThreads> ids() const {
    std::array<pid_t, kThreads> ids{};
    std::copy(ids_.begin(), ids_.end(), ids.begin());
    return ids;
  }

 private:
  std::array<std::thread, kThreads> threads_;
  std::array<std::atomic<pid_t>, kThreads> ids_{};
  std::atomic<bool> stop_{false};
};
using Rivals = RivalsOf<2>;

}  // namespace ringside::testing
