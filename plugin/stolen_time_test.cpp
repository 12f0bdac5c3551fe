#include "plugin/stolen_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>
#include <utility>

#include "base/testing/rivals.h"

namespace ringside::plugin {
namespace {

using testing::burn;
using testing::Rivals;
using testing::stay_on_one_processor;

constexpr std::uint64_t kTooLongNs = 50'000;
constexpr std::uint64_t kWithinNs = 20'000'000'000;

std::uint64_t waited_so_far_ns() {
  static thread_local const wire::HostWait wait("/proc/thread-self/schedstat");
  return wait.total_ns();
}

// In a thread of its own, which stays on one processor.
template <class Body>
void in_a_thread(const Body& body) {
  std::thread([&] {
    stay_on_one_processor();
    StolenTime stolen;
    stolen.begin();
    body(stolen);
  }).join();
}

TEST(StolenTime, AThreadThatSharesItsProcessorHasWaited) {
  const Rivals rivals;
  in_a_thread([](StolenTime& stolen) {
    const std::uint64_t end = monotonic_ns() + kWithinNs;
    bool waited = false;
    while (!waited && monotonic_ns() < end) {
      stolen.look_from_within();
      burn(100'000);  // as from one sample to the next
      waited = stolen.has_waited();
    }
    EXPECT_TRUE(waited);
  });
}

// The busier the host, the fewer of these the thread runs or sleeps through.
TEST(StolenTime, AThreadThatRunsOrSleepsHasNotWaited) {
  in_a_thread([](StolenTime& stolen) {
    const std::uint64_t end = monotonic_ns() + kWithinNs;
    int ran = 0;
    int slept = 0;
    std::uint64_t last = waited_so_far_ns();
    for (unsigned n = 0; (ran < 40 || slept < 40) && monotonic_ns() < end; ++n) {
      const std::uint64_t before = std::exchange(last, waited_so_far_ns());
      stolen.look_from_within();
      n % 2 == 0 ? burn(100'000) : static_cast<void>(::usleep(100));
      const bool waited = stolen.has_waited();
      if (waited_so_far_ns() - before > kTooLongNs) continue;
      EXPECT_FALSE(waited) << (n % 2 == 0 ? "ran" : "slept");
      ++(n % 2 == 0 ? ran : slept);
    }
    EXPECT_GT(ran, 0);
    EXPECT_GT(slept, 0);
  });
}

// Many waits too short to count are not one that does.
TEST(StolenTime, AWaitCountsOnce) {
  const Rivals rivals;
  in_a_thread([](StolenTime& stolen) {
    const std::uint64_t end = monotonic_ns() + kWithinNs;
    int found = 0;
    while (found < 20 && monotonic_ns() < end) {
      stolen.look_from_within();
      burn(100'000);
      if (!stolen.has_waited()) continue;
      ++found;
      const std::uint64_t before = waited_so_far_ns();
      stolen.look_from_within();
      ::usleep(1);
      const bool again = stolen.has_waited();
      EXPECT_TRUE(!again || waited_so_far_ns() - before > kTooLongNs);
    }
    EXPECT_GT(found, 0);
  });
}

}  // namespace
}  // namespace ringside::plugin
