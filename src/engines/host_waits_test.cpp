#include "engines/host_waits.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/testing/rivals.h"
#include "base/testing/time_limits.h"
#include "wire/host_wait.h"

namespace ringside::engines {
namespace {

using testing::Rivals;
using testing::this_thread;

Tick tick_of(std::size_t vcpus) {
  Tick tick;
  for (std::size_t n = 0; n < vcpus; ++n)
    tick.captures.emplace_back().vcpu = VcpuId{static_cast<std::uint16_t>(n)};
  return tick;
}

// By monotonic_ns().
std::uint64_t end_of_patience() {
  return monotonic_ns() + std::chrono::nanoseconds(testing::longest_step() / 6).count();
}

TEST(HostWaits, SamplesOfThreadsThatWaitedAreLeftOut) {
  const Rivals rivals;
  HostWaits waits(::getpid(), rivals.ids(), 2);
  waits.poll();
  ::usleep(100'000);
  Tick tick = tick_of(2);
  tick.captures[0].disposition = wire::Disposition::kIdle;
  waits.poll_again();
  waits.leave_out(tick);
  ASSERT_EQ(tick.captures.size(), 1u);
  EXPECT_EQ(tick.captures[0].vcpu.value, 0u);  // it did not want a processor
  EXPECT_EQ(tick.not_run, 1u);
}

TEST(HostWaits, StatesOfThreadsThatWaitedAreCounted) {
  const Rivals rivals;
  HostWaits waits(::getpid(), rivals.ids(), 2);
  waits.poll();
  ::usleep(100'000);
  Tick tick = tick_of(2);
  waits.poll_again();
  waits.leave_out(tick, true);
  EXPECT_EQ(tick.captures.size(), 2u);
  EXPECT_EQ(tick.not_run, 0u);
  EXPECT_EQ(tick.waited, 2u);
}

// Kernel-only and user-only samples are parts of one whole.
TEST(HostWaits, WhatWasSkippedForWhatItRanIsLeftOutToo) {
  const Rivals rivals;
  HostWaits waits(::getpid(), rivals.ids(), 2);
  waits.poll();
  ::usleep(100'000);
  Tick tick = tick_of(2);
  for (wire::Capture& capture : tick.captures) capture.disposition = wire::Disposition::kSkipped;
  tick.captures[1].level = PrivilegeLevel::kUser;
  waits.poll_again();
  waits.leave_out(tick);
  ASSERT_EQ(tick.captures.size(), 1u);
  EXPECT_EQ(tick.captures[0].vcpu.value, 0u);  // not looked at (--cpu)
  EXPECT_EQ(tick.not_run, 1u);
}

// Judged where the kernel's own figure is that nobody kept it waiting once it was awake.
TEST(HostWaits, AThreadThatSleptHasNotWaited) {
  constexpr std::uint64_t kNoWaitNs = 100'000;
  const Rivals rivals;
  const wire::HostWait own("/proc/thread-self/schedstat");
  HostWaits waits(::getpid(), std::array{this_thread()}, 1);
  for (const std::uint64_t end = end_of_patience(); monotonic_ns() < end;) {
    const std::uint64_t before = own.total_ns();
    waits.poll();
    ::usleep(5'000);
    waits.poll_again();
    if (own.total_ns() - before > kNoWaitNs) continue;
    Tick tick = tick_of(1);
    waits.leave_out(tick);
    EXPECT_EQ(tick.captures.size(), 1u);
    EXPECT_EQ(tick.not_run, 0u);
    return;
  }
  GTEST_SKIP() << "others use the processors all the time";
}

// The calling thread is this process's main loop. Only what nobody else's use of the processor made
// longer is judged, by the kernel's own figures, where no tick or switch came while they were read.
TEST(HostWaits, AThreadThatWaitedForTheMainLoopOnlyIsLeftIn) {
  constexpr std::uint64_t kAWaitNs = 1'000'000;
  constexpr std::uint64_t kNotYetAWaitNs = 200'000;
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  testing::stay_on_one_processor();
  const testing::RivalsOf<1> rival;
  const wire::HostWait main_loop("/proc/thread-self/schedstat");
  const wire::HostWait waits_of_rival(
      fmt::format("/proc/self/task/{}/schedstat", rival.ids()[0]).c_str());
  const auto figures = [&] {
    return std::pair(main_loop.times().ran_ns, waits_of_rival.total_ns());
  };
  HostWaits waits(::getpid(), rival.ids(), 1);
  int judged = 0;
  for (const std::uint64_t end = end_of_patience(); judged < 5 && monotonic_ns() < end;) {
    const auto before = figures();
    waits.poll();
    const bool read_at_once = figures() == before;
    const std::uint64_t waited_before = main_loop.total_ns();
    testing::burn(3'000'000);
    if (main_loop.total_ns() - waited_before > kNotYetAWaitNs) continue;
    const auto after = figures();
    waits.poll_again();
    if (!read_at_once || figures() != after) continue;
    const std::uint64_t ran = after.first - before.first;
    const std::uint64_t waited = after.second - before.second;
    if (waited < kAWaitNs || waited > ran) continue;
    Tick tick = tick_of(1);
    waits.leave_out(tick);
    EXPECT_EQ(tick.captures.size(), 1u);
    ++judged;
  }
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
  if (judged == 0) GTEST_SKIP() << "others use this processor all the time";
}

// The calling thread is the main loop here, too. The vCPU's thread sleeps, and waits for nothing.
TEST(HostWaits, AllAreLeftOutWhereTheMainLoopWaited) {
  constexpr std::uint64_t kAWaitNs = 2'000'000;
  std::atomic<pid_t> sleeper{0};
  std::atomic<bool> stop{false};
  std::thread vcpu([&] {
    sleeper = this_thread();
    while (!stop) ::usleep(100'000);
  });
  while (sleeper == 0) std::this_thread::yield();
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  testing::stay_on_one_processor();
  {
    const testing::RivalsOf<1> rival;
    const wire::HostWait main_loop("/proc/thread-self/schedstat");
    HostWaits waits(::getpid(), std::array{sleeper.load()}, 1);
    bool waited = false;
    for (const std::uint64_t end = end_of_patience(); !waited && monotonic_ns() < end;) {
      const std::uint64_t before = main_loop.total_ns();
      waits.poll();
      testing::burn(20'000'000);
      waits.poll_again();
      waited = main_loop.total_ns() - before > kAWaitNs;
    }
    EXPECT_TRUE(waited);
    Tick tick = tick_of(1);
    waits.leave_out(tick);
    EXPECT_TRUE(tick.captures.empty());
    EXPECT_EQ(tick.not_run, 1u);
  }
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
  stop = true;
  vcpu.join();
}

TEST(HostWaits, WhatIsNotKnownIsLeftIn) {
  const Rivals rivals;
  const std::array twice{rivals.ids()[0], rivals.ids()[0]};
  HostWaits none;
  HostWaits shared(::getpid(), twice, 2);
  HostWaits other_number(::getpid(), rivals.ids(), 3);
  HostWaits gone(::getpid(), std::array{rivals.ids()[0], pid_t{0x3fffffff}}, 2);
  for (HostWaits* const waits : {&none, &shared, &other_number, &gone}) waits->poll();
  ::usleep(50'000);
  for (HostWaits* const waits : {&none, &shared, &other_number, &gone}) {
    Tick tick = tick_of(3);
    waits->poll_again();
    waits->leave_out(tick);
    EXPECT_EQ(tick.captures.size(), 3u);
  }
}

}  // namespace
}  // namespace ringside::engines
