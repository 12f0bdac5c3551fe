#include "memory/stopped_memory.h"

#include <gtest/gtest.h>

#include "base/little_endian.h"
#include "memory/testing/stopped_ram.h"

namespace ringside::memory {
namespace {

class Stopped : public ::testing::Test {
 protected:
  Stopped() { pages_.start(ram_.ram()); }
  StoppedMemory::Read read(std::uint64_t address, std::size_t bytes) {
    bytes_.assign(bytes, std::byte{0xee});
    return memory_.read(GuestVirt{address}, bytes_);
  }
  std::uint64_t word(std::size_t at) const {
    const auto value = load<std::uint64_t>(bytes_, at);
    return value;
  }

  testing::StoppedRam ram_;
  StoppedPages pages_;
  StoppedMemory memory_{ram_.tables(), pages_};
  std::vector<std::byte> bytes_;
};

TEST_F(Stopped, PagesOfAReadComeInOneCall) {
  ASSERT_TRUE(read(0x0, 8).is_certain);  // the tables, and page 8
  ram_.calls = 0;
  const auto got = read(0xff8, 0x1010);
  EXPECT_TRUE(got.is_certain);
  EXPECT_EQ(got.bytes, 0x1010u);
  EXPECT_EQ(word(0), 0x8ff8u);
  EXPECT_EQ(word(8), 0x9000u);
  EXPECT_EQ(word(0x1008), 0xf000u);
  EXPECT_EQ(ram_.calls, 1u);
}

TEST_F(Stopped, WhatIsNotMappedIsCertain) {
  const auto got = read(0x2ff0, 0x20);
  EXPECT_TRUE(got.is_certain);
  EXPECT_EQ(got.bytes, 0x10u);
  EXPECT_EQ(word(8), 0xfff8u);
  EXPECT_TRUE(read(0x3000, 8).is_certain);
  EXPECT_EQ(read(0x3000, 8).bytes, 0u);
}

TEST_F(Stopped, WhatIsNoRamIsLeftToAnotherWay) {
  EXPECT_FALSE(read(0x4000, 8).is_certain);
  EXPECT_FALSE(read(0x200000, 8).is_certain) << "a table";
  // The page behind it is RAM: what came before the gap counts.
  EXPECT_EQ(read(0x4000, 0x1008).bytes, 0u);
  EXPECT_TRUE(read(0x5000, 8).is_certain);
  EXPECT_EQ(word(0), 0xa000u);
}

TEST_F(Stopped, WhatIsNoRamIsTheEndWhereNoOtherWayMayRead) {
  StoppedMemory alone(ram_.tables(), pages_, StoppedMemory::NoRam::kIsTheEnd);
  std::vector<std::byte> bytes(16);
  for (const std::uint64_t place : {0x4000, 0x200000}) {
    const auto got = alone.read(GuestVirt{place}, bytes);
    EXPECT_TRUE(got.is_certain);
    EXPECT_EQ(got.bytes, 0u);
  }
}

TEST_F(Stopped, AStopThatNeedsNothingLeavesTheReadAhead) {
  ASSERT_TRUE(read(0x0, 8).is_certain);
  pages_.start(ram_.ram());  // all vCPUs are idle, say
  ram_.pages = 0;
  pages_.start(ram_.ram());
  EXPECT_EQ(ram_.pages, 4u + 1u);
}

TEST_F(Stopped, TheNextStopReadsAheadWhatThisOneUsed) {
  ASSERT_TRUE(read(0x0, 0x1008).is_certain);
  ASSERT_TRUE(read(0x5000, 8).is_certain);
  for (const std::uint64_t value : {0x1234, 0x5678}) {
    ram_.put(0x8000, value);
    ram_.calls = 0;
    ram_.pages = 0;
    pages_.start(ram_.ram());
    EXPECT_EQ(ram_.calls, 1u);
    EXPECT_EQ(ram_.pages, 4u + 3u) << "tables and data";
    ASSERT_TRUE(read(0x0, 0x1008).is_certain);
    EXPECT_EQ(word(0), value) << "what was read is of this stop";
    ASSERT_TRUE(read(0x5000, 8).is_certain);
    EXPECT_EQ(ram_.calls, 1u);
  }
  // A page that a stop did not use is not read ahead by the next.
  pages_.start(ram_.ram());
  ASSERT_TRUE(read(0x5000, 8).is_certain);
  ram_.pages = 0;
  pages_.start(ram_.ram());
  EXPECT_EQ(ram_.pages, 4u + 1u);
}

TEST_F(Stopped, TablesThatChangedAreWalkedAnew) {
  ASSERT_TRUE(read(0x0, 8).is_certain);
  ram_.put(0x4000, 0xb001);
  ASSERT_TRUE(read(0x0, 8).is_certain);
  EXPECT_EQ(word(0), 0x8000u) << "within a stop nothing changes";
  pages_.start(ram_.ram());
  ASSERT_TRUE(read(0x0, 8).is_certain);
  EXPECT_EQ(word(0), 0xb000u);
}

TEST_F(Stopped, NothingIsReadOutsideOfAStop) {
  ASSERT_TRUE(read(0x0, 8).is_certain);
  pages_.stop();
  EXPECT_FALSE(read(0x0, 8).is_certain);
}

TEST_F(Stopped, ASourceThatIsLostHasNoPages) {
  ram_.is_lost = true;
  EXPECT_FALSE(read(0x0, 8).is_certain);
  ram_.is_lost = false;
  EXPECT_FALSE(read(0x0, 8).is_certain) << "it is not tried again in this stop";
  pages_.start(ram_.ram());
  EXPECT_TRUE(read(0x0, 8).is_certain);
}

}  // namespace
}  // namespace ringside::memory
