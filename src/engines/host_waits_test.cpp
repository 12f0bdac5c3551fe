#include "engines/host_waits.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/testing/rivals.h"

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

TEST(HostWaits, SamplesOfThreadsThatWaitedAreLeftOut) {
  const Rivals rivals;
  HostWaits waits(::getpid(), rivals.ids(), 2);
  waits.look();
  ::usleep(100'000);
  Tick tick = tick_of(2);
  tick.captures[0].disposition = wire::Disposition::kIdle;
  waits.look_again();
  waits.leave_out(tick);
  ASSERT_EQ(tick.captures.size(), 1u);
  EXPECT_EQ(tick.captures[0].vcpu.value, 0u);  // it did not want a processor
  EXPECT_EQ(tick.not_run, 1u);
}

// Kernel-only and user-only samples are parts of one whole.
TEST(HostWaits, WhatWasSkippedForWhatItRanIsLeftOutToo) {
  const Rivals rivals;
  HostWaits waits(::getpid(), rivals.ids(), 2);
  waits.look();
  ::usleep(100'000);
  Tick tick = tick_of(2);
  for (wire::Capture& capture : tick.captures) capture.disposition = wire::Disposition::kSkipped;
  tick.captures[1].level = PrivilegeLevel::kUser;
  waits.look_again();
  waits.leave_out(tick);
  ASSERT_EQ(tick.captures.size(), 1u);
  EXPECT_EQ(tick.captures[0].vcpu.value, 0u);  // not looked at (--cpu)
  EXPECT_EQ(tick.not_run, 1u);
}

TEST(HostWaits, AThreadThatSleptHasNotWaited) {
  const Rivals rivals;
  HostWaits waits(::getpid(), std::array{this_thread()}, 1);
  waits.look();
  Tick tick = tick_of(1);
  waits.look_again();
  waits.leave_out(tick);
  EXPECT_EQ(tick.captures.size(), 1u);
  EXPECT_EQ(tick.not_run, 0u);
}

// The calling thread is this process's main loop. On a busy host others take the processor as well:
// then once more.
TEST(HostWaits, AThreadThatWaitedForTheMainLoopOnlyIsLeftIn) {
  cpu_set_t allowed;
  ASSERT_EQ(::sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  testing::stay_on_one_processor();
  std::atomic<bool> stop = false;
  std::atomic<pid_t> id = 0;
  std::thread rival([&] {
    id = this_thread();
    while (!stop) testing::burn(1'000'000);
  });
  while (id == 0) std::this_thread::yield();
  HostWaits waits(::getpid(), std::array{id.load()}, 1);
  std::size_t left = 0;
  for (int tries = 0; left == 0 && tries < 50; ++tries) {
    waits.look();
    testing::burn(40'000'000);
    waits.look_again();
    Tick tick = tick_of(1);
    waits.leave_out(tick);
    left = tick.captures.size();
  }
  EXPECT_EQ(left, 1u);
  stop = true;
  rival.join();
  ::sched_setaffinity(0, sizeof(allowed), &allowed);
}

TEST(HostWaits, WhatIsNotKnownIsLeftIn) {
  const Rivals rivals;
  const std::array twice{rivals.ids()[0], rivals.ids()[0]};
  HostWaits none;
  HostWaits shared(::getpid(), twice, 2);
  HostWaits other_number(::getpid(), rivals.ids(), 3);
  HostWaits gone(::getpid(), std::array{rivals.ids()[0], pid_t{0x3fffffff}}, 2);
  for (HostWaits* const waits : {&none, &shared, &other_number, &gone}) waits->look();
  ::usleep(50'000);
  for (HostWaits* const waits : {&none, &shared, &other_number, &gone}) {
    Tick tick = tick_of(3);
    waits->look_again();
    waits->leave_out(tick);
    EXPECT_EQ(tick.captures.size(), 3u);
  }
}

}  // namespace
}  // namespace ringside::engines
