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

using Found = StolenTime::Found;
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

bool has_waited(StolenTime& stolen) { return stolen.found() == Found::kWaited; }

constexpr std::uint64_t kUs = 1'000;

// A thread to which happens what a test wants.
class FakeThread final : public ThreadClocks {
 public:
  void begin() override {}
  [[nodiscard]] std::uint64_t now_ns() const override { return now_; }
  [[nodiscard]] std::uint64_t used_ns() const override { return used_; }
  [[nodiscard]] std::uint64_t waited_ns() const override { return waited_; }

  void run(std::uint64_t ns) {
    waited_ += std::exchange(waits_, 0);
    now_ += ns;
    used_ += ns;
  }
  void wait(std::uint64_t ns) {
    now_ += ns;
    waits_ += ns;
  }
  void sleep(std::uint64_t ns) {
    waited_ += std::exchange(waits_, 0);
    now_ += ns;
  }

 private:
  std::uint64_t now_ = 1'000'000'000;
  std::uint64_t used_ = 0;
  std::uint64_t waited_ = 0;
  std::uint64_t waits_ = 0;  // a wait that has not ended
};

// A thread whose last sample is 10 ms ago, with a wait behind it.
class StolenTimeOfFake : public ::testing::Test {
 protected:
  StolenTimeOfFake() {
    stolen_.begin();
    thread_.run(500 * kUs);
    stolen_.poll(thread_.now_ns(), false);
    EXPECT_EQ(stolen_.found(), Found::kRan);
    thread_.run(3'000 * kUs);
    thread_.wait(2'000 * kUs);
    thread_.run(5'000 * kUs);
  }

  FakeThread thread_;
  StolenTime stolen_{thread_};
};

TEST_F(StolenTimeOfFake, AWaitThatEndedBeforeTheSampleWasDueDoesNotCount) {
  stolen_.poll(thread_.now_ns(), false);
  thread_.run(2 * kUs);
  EXPECT_EQ(stolen_.found(), Found::kRan);
}

// The plugin's thread ran on the processor for which the vCPU's thread waits, and gives it up.
TEST_F(StolenTimeOfFake, AThreadThatGoesOnRightBehindThePollHasWaited) {
  thread_.wait(3'000 * kUs);
  stolen_.poll(thread_.now_ns(), false);
  thread_.wait(5 * kUs);
  thread_.run(2 * kUs);
  EXPECT_EQ(stolen_.found(), Found::kWaited);
}

TEST_F(StolenTimeOfFake, AShortWaitDoesNotCount) {
  stolen_.poll(thread_.now_ns(), false);
  thread_.wait(30 * kUs);
  thread_.run(2 * kUs);
  EXPECT_EQ(stolen_.found(), Found::kRan);
}

// Until another thread of QEMU's lets go of a lock, say.
TEST_F(StolenTimeOfFake, AThreadThatSleptWhenASampleWasDueDidNotRun) {
  stolen_.poll(thread_.now_ns(), false);
  thread_.sleep(1'000 * kUs);
  thread_.run(2 * kUs);
  EXPECT_EQ(stolen_.found(), Found::kSlept);
  thread_.sleep(1'000 * kUs);
  thread_.run(2 * kUs);
  stolen_.poll(thread_.now_ns(), false);
  thread_.run(2 * kUs);
  EXPECT_EQ(stolen_.found(), Found::kRan) << "it slept before";
}

// Two samples are due in a wait. The plugin's thread comes with the second one after it.
TEST_F(StolenTimeOfFake, ASampleThatWasDueInAWaitIsNotTakenBehindAnotherOne) {
  for (const bool is_dense : {false, true}) {
    const auto raise = [&](std::uint64_t due_ns) {
      is_dense ? stolen_.set_due(due_ns) : stolen_.poll(due_ns, false);
    };
    thread_.wait(1'000 * kUs);
    raise(thread_.now_ns());
    thread_.wait(600 * kUs);
    const std::uint64_t second_due_ns = thread_.now_ns() - 1 * kUs;
    thread_.run(2 * kUs);
    EXPECT_EQ(stolen_.found(), Found::kWaited);
    thread_.run(20 * kUs);
    raise(second_due_ns);
    EXPECT_EQ(stolen_.found(), Found::kWaited);
    thread_.run(20 * kUs);
    raise(thread_.now_ns());
    EXPECT_EQ(stolen_.found(), Found::kRan);
  }
}

TEST_F(StolenTimeOfFake, WhoIsReportedLateMayHaveWaited) {
  stolen_.poll(thread_.now_ns() - 200 * kUs, true);
  thread_.run(2 * kUs);
  EXPECT_EQ(stolen_.found(), Found::kReportedLate);
  thread_.run(1'000 * kUs);
  stolen_.poll(thread_.now_ns() - 200 * kUs, true);
  EXPECT_EQ(stolen_.found(), Found::kRan) << "it ran without a gap since it looked last";
}

// Samples 100 µs apart: looked after from one to the next.
TEST_F(StolenTimeOfFake, ManyShortWaitsAreNotOneThatCounts) {
  StolenTime stolen(thread_);
  stolen.begin();
  for (int n = 0; n < 100; ++n) {
    stolen.set_due(thread_.now_ns());
    thread_.wait(2 * kUs);
    thread_.run(98 * kUs);
    EXPECT_EQ(stolen.found(), Found::kRan);
  }
  thread_.run(98 * kUs);
  stolen.set_due(thread_.now_ns());
  thread_.wait(60 * kUs);
  thread_.run(2 * kUs);
  EXPECT_EQ(stolen.found(), Found::kWaited);
}

// In a thread of its own, which stays on one processor.
template <class Body>
void in_a_thread(const Body& body) {
  std::thread([&] {
    stay_on_one_processor();
    ThreadClocks clocks;
    StolenTime stolen(clocks);
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
      stolen.set_due(monotonic_ns());
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
      stolen.set_due(monotonic_ns());
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
      stolen.set_due(monotonic_ns());
      burn(kBurnNs);
      const std::uint64_t before = waited_so_far_ns();  // a wait behind it may count again
      if (!has_waited(stolen)) continue;
      ++found;
      stolen.set_due(monotonic_ns());
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
    Found found;
  };

  // Polls so long, or until `enough` has been heard.
  template <class Enough>
  void poll(const Enough& enough) {
    std::thread vcpu([&] { run(); });
    while (!ready_) std::this_thread::yield();
    // Where it wakes up on the vCPU's processor, it takes that from it.
    const testing::OnOtherProcessors elsewhere;
    const std::uint64_t end = monotonic_ns() + kWithinNs;
    while (!done_ && monotonic_ns() < end) {
      ::usleep(700);
      if (is_due_) continue;
      stolen_.poll(monotonic_ns(), false);
      is_due_ = true;
      while (is_due_) ::usleep(10);
      done_ = enough(last_);
    }
    done_ = true;
    vcpu.join();
  }

 private:
  void run() {
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
        is_due_ = false;
      }
      last_gap_ns = gap_ns;
      last_ns = now_ns;
    }
  }

  ThreadClocks clocks_;
  StolenTime stolen_{clocks_};
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
  PolledThread().poll([&](const PolledThread::Heard& heard) {
    if (heard.gap_ns < kTooLongNs / 5) ++ran, ran_but_waited += heard.found != Found::kRan;
    if (heard.gap_ns > 20 * kTooLongNs) ++waited, waited_but_ran += heard.found == Found::kRan;
    return ran >= 50 && waited >= 50;
  });
  EXPECT_GE(ran, 50);
  EXPECT_GE(waited, 50);
  // Each of the two threads may be kept waiting between any two lines of this test.
  EXPECT_LE(ran_but_waited, ran / 5);
  EXPECT_LE(waited_but_ran, waited / 5);
}

}  // namespace
}  // namespace ringside::plugin
