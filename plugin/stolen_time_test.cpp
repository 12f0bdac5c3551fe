#include "plugin/stolen_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "base/testing/rivals.h"
#include "base/testing/time_limits.h"

namespace ringside::plugin {
namespace {

using testing::burn;
using testing::Rivals;
using testing::stay_on_one_processor;

constexpr std::uint64_t kTooLongNs = 50'000;
const auto kWithinNs =
    static_cast<std::uint64_t>(std::chrono::nanoseconds(testing::longest_step()).count());
// Reading a thread's clock makes the kernel look whether its turn is over. It is to be over while
// the thread burns time, not where it reads.
constexpr std::uint64_t kBurnNs = 10'000'000;

std::uint64_t waited_so_far_ns() {
  static thread_local const wire::HostWait wait("/proc/thread-self/schedstat");
  return wait.total_ns();
}

bool has_waited(StolenTime& stolen) { return stolen.found() == StolenTime::Found::kWaited; }

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
      stolen.poll_from_within();
      burn(kBurnNs);
      waited = has_waited(stolen);
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
      stolen.poll_from_within();
      n % 2 == 0 ? burn(100'000) : static_cast<void>(::usleep(100));
      const bool waited = has_waited(stolen);
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
      stolen.poll_from_within();
      burn(kBurnNs);
      const std::uint64_t before = waited_so_far_ns();  // a wait behind it may count again
      if (!has_waited(stolen)) continue;
      ++found;
      stolen.poll_from_within();
      ::usleep(1);
      const bool again = has_waited(stolen);
      EXPECT_TRUE(!again || waited_so_far_ns() - before > kTooLongNs);
    }
    EXPECT_GT(found, 0);
  });
}

// A thread that runs its vCPU, and hears of each sample from another thread.
class PolledThread {
 public:
  struct Heard {
    std::uint64_t gap_ns;  // since it was last seen running, when it heard of the sample
    StolenTime::Found found;
  };

  // Polls so long, or until `enough` has been heard.
  template <class Enough>
  void poll(bool is_late, bool polls_from_within, const Enough& enough) {
    std::thread vcpu([&] { run(polls_from_within); });
    while (!ready_) std::this_thread::yield();
    // Where it wakes up on the vCPU's processor, it takes that from it.
    const testing::OnOtherProcessors elsewhere;
    const std::uint64_t end = monotonic_ns() + kWithinNs;
    while (!done_ && monotonic_ns() < end) {
      ::usleep(700);
      if (is_due_) continue;
      stolen_.poll(is_late);
      is_due_ = true;
      while (is_due_) ::usleep(10);
      done_ = enough(last_);
    }
    done_ = true;
    vcpu.join();
  }

 private:
  void run(bool polls_from_within) {
    stay_on_one_processor();
    stolen_.begin();
    ready_ = true;
    std::uint64_t last_ns = monotonic_ns();
    std::uint64_t last_gap_ns = 0;
    while (!done_) {
      const bool is_due = is_due_;
      const std::uint64_t now_ns = monotonic_ns();
      const std::uint64_t gap_ns = now_ns - last_ns;
      if (is_due) {
        // The last one too: it was waiting, when it had just polled whether a sample is due.
        last_ = {std::max(gap_ns, last_gap_ns), stolen_.found()};
        if (polls_from_within) stolen_.poll_from_within();
        is_due_ = false;
      }
      last_gap_ns = gap_ns;
      last_ns = now_ns;
    }
  }

  StolenTime stolen_;
  Heard last_{};
  std::atomic<bool> ready_{false};
  std::atomic<bool> is_due_{false};
  std::atomic<bool> done_{false};
};

TEST(StolenTime, ItIsPolledWhenASampleIsDue) {
  const cpu_set_t processors = testing::allowed_processors();
  if (CPU_COUNT(&processors) < 2) GTEST_SKIP() << "one processor only";
  const Rivals rivals;
  int ran = 0;
  int ran_but_waited = 0;
  int waited = 0;
  int waited_but_ran = 0;
  PolledThread().poll(false, true, [&](const PolledThread::Heard& heard) {
    if (heard.gap_ns < kTooLongNs / 5)
      ++ran, ran_but_waited += heard.found != StolenTime::Found::kRan;
    if (heard.gap_ns > 20 * kTooLongNs)
      ++waited, waited_but_ran += heard.found == StolenTime::Found::kRan;
    return ran >= 50 && waited >= 50;
  });
  EXPECT_GE(ran, 50);
  EXPECT_GE(waited, 50);
  // Each of the two threads may be kept waiting between any two lines of this test.
  EXPECT_LE(ran_but_waited, ran / 5);
  EXPECT_LE(waited_but_ran, waited / 5);
}

// A thread that has come from a wait just when the late one polled is not seen to have waited.
TEST(StolenTime, WhoIsReportedLateMayHaveWaited) {
  int heard = 0;
  PolledThread().poll(true, false, [&](const PolledThread::Heard& reported) {
    EXPECT_EQ(reported.found, StolenTime::Found::kReportedLate);
    return ++heard == 20;
  });
  EXPECT_EQ(heard, 20);
}

}  // namespace
}  // namespace ringside::plugin
