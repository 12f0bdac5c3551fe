#include "plugin/shared_ring.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

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
    const auto room = ring_.reserve(0, kRecord);
    if (room.empty()) return std::nullopt;
    wire::write_padding(room);  // any record does
    ring_.commit(0, kRecord);
    return static_cast<std::size_t>(room.data() - start_);
  }

  void take_all() { ring_.vcpu(0).tail = ring_.vcpu(0).head.load(); }

  SharedRing ring_;
  std::size_t size_ = 0;
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
  EXPECT_FALSE(ring_.reserve(0, size_ / 2).empty());
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
