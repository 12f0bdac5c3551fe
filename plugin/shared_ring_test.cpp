#include "plugin/shared_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "wire/futex.h"
#include "wire/record.h"

namespace ringside::plugin {
namespace {

constexpr std::size_t kRecord = 4096;

class SharedRingTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ring_.create("", Arch::kX86_64, 1, 4, wire::RingClock::kHostTime));
    size_ = ring_.header().ring_bytes;
    start_ = ring_.record_at(0, 0).data();
  }

  // Puts in a record of kRecord bytes; returns where it begins in the ring, or nothing where the
  // ring is full.
  std::optional<std::size_t> put() {
    const auto slot = ring_.begin_record(0, wire::SourceId::kClock, kRecord, [] {});
    EXPECT_EQ(slot.origin.sequence, puts_++);
    if (slot.room.empty()) return std::nullopt;
    wire::write_padding(slot.room);  // any record does
    ring_.commit(0, wire::SourceId::kClock, kRecord, [] {});
    return static_cast<std::size_t>(slot.room.data() - start_);
  }

  void take_all() { ring_.vcpu(0).tail = ring_.vcpu(0).head.load(); }

  void set_backpressure(wire::Backpressure backpressure) {
    ring_.source(wire::SourceId::kClock).backpressure = backpressure;
  }
  [[nodiscard]] std::uint64_t taken() const { return ring_.vcpu(0).tail; }

  // As a reader that is behind: takes the oldest records when a vCPU waits, until it stops.
  std::thread slow_reader(std::atomic<bool>& stops) {
    return std::thread([&] {
      while (!stops) {
        if (ring_.header().waiting == 0 || ring_.is_drained(0)) {
          std::this_thread::yield();
          continue;
        }
        ring_.vcpu(0).tail += ring_.record_at(0, taken()).size();
        ++ring_.header().doorbell;
        wire::futex_wake(ring_.header().doorbell);
      }
    });
  }

  SharedRing ring_;
  std::size_t size_ = 0;
  std::uint32_t puts_ = 0;
  const std::byte* start_ = nullptr;
};

TEST_F(SharedRingTest, HoldsAsMuchAsItIsLarge) {
  for (std::size_t n = 0; n < size_ / kRecord; ++n) ASSERT_EQ(put(), n * kRecord);
  EXPECT_EQ(put(), std::nullopt);
  take_all();
  EXPECT_EQ(put(), 0u);
}

TEST_F(SharedRingTest, BeginsAnewWhereItIsEmpty) {
  std::size_t highest = 0;
  for (std::size_t n = 0; n < 2 * size_ / kRecord; ++n) {
    const auto at = put();
    ASSERT_TRUE(at);
    highest = std::max(highest, *at);
    take_all();
  }
  EXPECT_LT(highest, size_ / 8);
}

TEST_F(SharedRingTest, GoesOnWhereAReaderIsBehind) {
  ASSERT_EQ(put(), 0u);
  for (std::size_t n = 1; n < size_ / kRecord; ++n) {
    ASSERT_EQ(put(), n * kRecord);
    ring_.vcpu(0).tail += kRecord;
  }
}

TEST_F(SharedRingTest, ARecordThatWouldNotFitInFrontGoesOn) {
  for (std::size_t n = 0; n < size_ / 4 / kRecord; ++n) ASSERT_TRUE(put());
  take_all();
  EXPECT_TRUE(ring_.has_room(0, ring_.longest_record()));
}

TEST_F(SharedRingTest, AVcpuWaitsForRoomAndLosesNothing) {
  set_backpressure(wire::Backpressure::kWait);
  std::atomic<bool> stops{false};
  std::thread reader = slow_reader(stops);
  for (std::size_t n = 0; n < 3 * size_ / kRecord; ++n) EXPECT_TRUE(put()) << n;
  stops = true;
  reader.join();
  EXPECT_EQ(ring_.header().waiting, 0u);
  EXPECT_GT(taken(), size_);
}

TEST_F(SharedRingTest, InLockstepAVcpuWaitsForItsRecordToBeTaken) {
  set_backpressure(wire::Backpressure::kLockstep);
  std::atomic<bool> stops{false};
  std::thread reader = slow_reader(stops);
  for (std::size_t n = 0; n < 20; ++n) {
    EXPECT_TRUE(put());
    EXPECT_TRUE(ring_.is_drained(0)) << n;
  }
  stops = true;
  reader.join();
}

// The reader may give up waiting, as at its end.
TEST_F(SharedRingTest, AVcpuWaitsNoLongerThanItIsAskedTo) {
  set_backpressure(wire::Backpressure::kWait);
  while (ring_.has_room(0, kRecord)) ASSERT_TRUE(put());
  std::thread reader([&] {
    while (ring_.header().waiting == 0) std::this_thread::yield();
    set_backpressure(wire::Backpressure::kDrop);
  });
  EXPECT_FALSE(put());
  reader.join();
}

TEST_F(SharedRingTest, ARecordThatNeverFitsIsLostAtOnce) {
  set_backpressure(wire::Backpressure::kWait);
  const std::size_t bytes = size_ + 8;
  EXPECT_TRUE(ring_.begin_record(0, wire::SourceId::kClock, bytes, [] {}).room.empty());
}

// A reader goes from record to record: what is left out is one.
TEST_F(SharedRingTest, WhatIsLeftOutIsARecord) {
  std::size_t at = 0;
  while (put() != 0u || at == 0) {
    const Bytes record = ring_.record_at(0, at);
    ASSERT_EQ(record.size(), kRecord);
    at += record.size();
    take_all();
  }
  const Bytes left_out = ring_.record_at(0, at);
  EXPECT_TRUE(wire::is_padding(left_out));
  EXPECT_EQ(at + left_out.size(), size_);
  EXPECT_EQ(ring_.record_at(0, size_).data(), start_);
}

}  // namespace
}  // namespace ringside::plugin
