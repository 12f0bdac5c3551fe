#include "engines/ring/ring_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <thread>

#include "engines/ring/testing/ring_guest.h"
#include "wire/guest_capture.h"

namespace ringside::engines::ring {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RingEngineTest;
using wire::testing::GuestRings;
using wire::testing::the_time;

TEST_F(RingEngineTest, GivesSamplesOfAllRingsInOrderOfTime) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  wire::testing::put_sample(0, 1, 3);  // of before
  start();
  ASSERT_TRUE(engine_->has_rings());
  wire::testing::put_sample(1, 5, 2);
  wire::testing::put_sample(0, 6, 2);
  ringside_sample(1, RINGSIDE_TIMER, nullptr, nullptr, nullptr);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->captures.size(), 3u);
  std::vector<unsigned> vcpus;
  std::uint64_t last = 0;
  for (const wire::Capture& capture : taken->captures) {
    vcpus.push_back(capture.vcpu.value);
    EXPECT_GE(capture.host_time_ns, last);
    last = capture.host_time_ns;
  }
  EXPECT_THAT(vcpus, ElementsAre(1, 0, 1));
  EXPECT_LE(last, monotonic_ns());
  const auto task = wire::task_of(taken->captures[0]);
  ASSERT_TRUE(task);
  EXPECT_EQ(task->pid, 5u);
  EXPECT_EQ(task->name, "worker");
  EXPECT_EQ(taken->captures[2].disposition, wire::Disposition::kIdle);
  EXPECT_EQ(engine_->counts().due, 3u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

TEST_F(RingEngineTest, WhatThePlanDoesNotWantIsSkipped) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  vcpus_[1].wanted = false;
  wire::testing::put_sample(1, 5, 2);
  wire::testing::put_sample(0, 6, 2);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->captures.size(), 2u);
  EXPECT_EQ(taken->captures[0].disposition, wire::Disposition::kSkipped);
  EXPECT_EQ(taken->captures[1].disposition, wire::Disposition::kSampled);
}

TEST_F(RingEngineTest, PassesOnAllocationsAndEvents) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  const std::int64_t number = 7;
  ringside_event(0, "switch", &number, 1, nullptr, nullptr);
  const auto taken = tick_with_events();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->events.size(), 1u);
  const auto record = wire::read_guest_record(taken->events[0].words);
  ASSERT_TRUE(record);
  EXPECT_EQ(record->event.name, "switch");
  EXPECT_FALSE(taken->reporter);  // it has no stack
}

// A guest that reports events only shows its kernel by what reports them.
TEST_F(RingEngineTest, EventsShowTheCodeThatReportsThem) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  const wire::testing::TrueStack stack(3, 2);
  ringside_event(0, "switch", nullptr, 0, nullptr, &stack.stack);
  ringside_event(0, "switch", nullptr, 0, nullptr, nullptr);
  const auto taken = tick_with_events();
  ASSERT_TRUE(taken);
  ASSERT_TRUE(taken->reporter);
  EXPECT_EQ(taken->reporter->registers.get(arch::x86_64::kRip), stack.frames[0]);
  EXPECT_EQ(taken->reporter->level, PrivilegeLevel::kKernel);
  wire::testing::put_sample(0, 1, 2);
  ringside_event(0, "switch", nullptr, 0, nullptr, &stack.stack);
  const auto sampled = tick();
  ASSERT_TRUE(sampled);
  EXPECT_FALSE(sampled->captures.empty());
  EXPECT_FALSE(sampled->reporter);
}

// CPUs are read one after another: an event waits for those before it.
TEST_F(RingEngineTest, EventsOfCpusAreInOrderOfTime) {
  const GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  the_time = 5000;
  ringside_event(0, "free", nullptr, 0, nullptr, nullptr);
  ASSERT_TRUE(tick());
  the_time = 4000;
  ringside_event(1, "alloc", nullptr, 0, nullptr, nullptr);
  const auto taken = tick_with_events();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->events.size(), 2u);
  EXPECT_EQ(wire::read_guest_record(taken->events[0].words)->event.name, "alloc");
  EXPECT_LE(taken->events[0].host_time_ns, taken->events[1].host_time_ns);
}

// None waits for longer than the recording.
TEST_F(RingEngineTest, TheLastEventsComeAtTheEnd) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  ringside_event(0, "last", nullptr, 0, nullptr, nullptr);
  engine_->stop();
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->events.size(), 1u);
}
TEST_F(RingEngineTest, TheLastSamplesComeAfterTheEnd) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 6, 2);
  engine_->stop();
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 1u);
}

// A record whose first word is missing, as while a writer is at it.
class HalfWritten {
 public:
  explicit HalfWritten(GuestRings& rings) : at_(rings.writable().data() + rings.area().ring_at(0)) {
    std::memcpy(&word_, at_, sizeof(word_));
    std::memset(at_, 0, sizeof(word_));
  }
  void end() const { std::memcpy(at_, &word_, sizeof(word_)); }

 private:
  std::byte* at_;
  std::uint64_t word_ = 0;
};

TEST_F(RingEngineTest, WaitsAtTheEndForARecordThatIsBeingWritten) {
  GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 6, 2);
  HalfWritten half(rings);
  std::thread writer([&] {
    sleep_ns(5'000'000);
    half.end();
  });
  engine_->stop();
  const auto taken = tick();
  writer.join();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 1u);
  EXPECT_EQ(engine_->counts().lost(), 0u);
}

TEST_F(RingEngineTest, ARecordThatIsNeverWholeIsLost) {
  GuestRings rings(2, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 6, 2);
  const HalfWritten half(rings);
  engine_->stop();
  const auto taken = tick();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->captures.size(), 0u);
  EXPECT_EQ(engine_->counts().lost(), 1u);
}

// 64 records of 16 words are a ring's words.
TEST_F(RingEngineTest, CountsWhatIsOverwritten) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(0, 0, 8);
  ASSERT_TRUE(tick());
  for (std::uint32_t id = 1; id <= 100; ++id) wire::testing::put_sample(0, id, 8);
  ASSERT_TRUE(tick());
  EXPECT_EQ(engine_->counts().due, 101u);
  EXPECT_EQ(engine_->counts().overwritten, 36u);
  EXPECT_EQ(engine_->counts().no_room, 0u);
}
// More CPUs than the machine has are no CPUs.
TEST_F(RingEngineTest, ReadsNoMoreRingsThanThereAreVcpus) {
  const GuestRings rings(64, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  wire::testing::put_sample(1, 5, 2);
  wire::testing::put_sample(2, 6, 2);
  const auto taken = tick();
  ASSERT_TRUE(taken);
  ASSERT_EQ(taken->captures.size(), 1u);
  EXPECT_EQ(taken->captures[0].vcpu, VcpuId{1});
}

TEST_F(RingEngineTest, AnErrorOfTheMemoryIsTheTicks) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  ram_.rings = &rings;
  start();
  ram_.error = Error{ErrorCode::kClosed, "QEMU has ended"};
  const auto taken = tick();
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::kClosed);
}

}  // namespace
}  // namespace ringside::engines::ring
