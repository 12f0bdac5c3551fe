#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <ctime>

// Waiting on a word in memory that two processes share; futex(2).

namespace ringside::wire {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

// Waits until the word is no longer `seen`, is woken, or the monotonic clock says `until_ns`.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t seen,
                       std::uint64_t until_ns) {
  const timespec until{static_cast<time_t>(until_ns / 1'000'000'000u),
                       static_cast<long>(until_ns % 1'000'000'000u)};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, seen, &until, nullptr, FUTEX_BITSET_MATCH_ANY);
}

inline void futex_wake(std::atomic<std::uint32_t>& word) {
  ::syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace ringside::wire
