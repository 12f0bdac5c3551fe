#include "engines/gdb/run_state_probe.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>

#include "base/testing/time_limits.h"

namespace ringside::engines::gdb {
namespace {

// A thread that sleeps until it is woken, as a vCPU's does while the guest is stopped.
class Sleeper {
 public:
  Sleeper() {
    EXPECT_TRUE(testing::wait_until([this] { return id_ != 0 && sleeps(); }));
  }
  ~Sleeper() {
    wake();
    thread_.join();
  }
  void wake() {
    const std::lock_guard lock(mutex_);
    woken_ = true;
    changed_.notify_all();
  }
  [[nodiscard]] pid_t id() const { return id_; }

 private:
  [[nodiscard]] bool sleeps() const {
    std::ifstream file(fmt::format("/proc/self/task/{}/stat", id_.load()));
    const std::string text(std::istreambuf_iterator<char>(file), {});
    return text.find(") S ") != std::string::npos;
  }
  void sleep() {
    std::unique_lock lock(mutex_);
    id_ = ::gettid();
    changed_.wait(lock, [this] { return woken_; });
    lock.unlock();
    ::usleep(200'000);
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  bool woken_ = false;
  std::atomic<pid_t> id_ = 0;
  std::thread thread_{[this] { sleep(); }};
};

TEST(RunStateProbe, DistinguishesAThreadThatWasWokenFromOneThatSleeps) {
  Sleeper first;
  Sleeper second;
  const std::array threads{first.id(), second.id()};
  const RunStateProbe probe(::getpid());
  EXPECT_EQ(probe.any_has_run(threads), false);
  second.wake();
  EXPECT_TRUE(testing::wait_until([&] { return probe.any_has_run(threads) == true; }));
  EXPECT_EQ(probe.any_has_run(std::array{first.id()}), false);
}

TEST(RunStateProbe, KnowsNothingOfOthersThreads) {
  const RunStateProbe ours(::getpid());
  EXPECT_EQ(ours.any_has_run(std::array{pid_t{1}}), std::nullopt);
  EXPECT_EQ(ours.any_has_run({}), std::nullopt);
  EXPECT_EQ(RunStateProbe(0).any_has_run(std::array{::gettid()}), std::nullopt);
}

// As QEMU 7.2 and 10.0 print it.
TEST(RunStateProbe, ReadsTheMonitorsList) {
  EXPECT_EQ(vcpu_threads("* CPU #0: thread_id=4711\r\n  CPU #1: thread_id=4712\r\n"),
            (std::vector<pid_t>{4711, 4712}));
  EXPECT_TRUE(vcpu_threads("thread_id=x thread_id=").empty());
  EXPECT_TRUE(vcpu_threads("").empty());
}

}  // namespace
}  // namespace ringside::engines::gdb
