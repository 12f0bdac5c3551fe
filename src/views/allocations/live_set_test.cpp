#include "views/allocations/live_set.h"

#include <gtest/gtest.h>

#include <optional>

namespace ringside::views {
namespace {

constexpr std::uint32_t kA = 7;  // numbers of stacks
constexpr std::uint32_t kB = 9;

class LiveSetTest : public ::testing::Test {
 protected:
  LiveSet follow(std::optional<std::uint64_t> since = {}) { return {0, frees, since}; }
  static BlockSums sums_of(const LiveSet& set, std::uint32_t stack) {
    for (const LiveSet::Stack& one : set.stacks())
      if (one.key == stack) return one.sums;
    return {};
  }
  RecentFrees frees;
};

// As Maestro's rules have it: the stack is that of the alloc, the size the last one.
TEST_F(LiveSetTest, ABlockIsOfTheStackThatHasAllocatedIt) {
  LiveSet set = follow();
  set.allocate(0x10, 8, 0, kA);
  set.reallocate(0x10, 0x10, 20, 1, kB);
  set.finish(1, {});
  EXPECT_EQ(sums_of(set, kA).live, (BlockAmount{1, 20}));
  EXPECT_EQ(sums_of(set, kA).allocated, (BlockAmount{1, 20}));
  EXPECT_EQ(sums_of(set, kB).allocated, (BlockAmount{0, 0}));
}

TEST_F(LiveSetTest, AnAllocAtAFreedPointerIsOfItsOwnStack) {
  LiveSet set = follow();
  set.allocate(0x10, 8, 0, kA);
  set.free(0x10, 5);
  set.allocate(0x10, 4, 6, kB);
  set.finish(6, {});
  EXPECT_EQ(sums_of(set, kA).live, (BlockAmount{0, 0}));
  EXPECT_EQ(sums_of(set, kA).freed, (BlockAmount{1, 8}));
  EXPECT_EQ(sums_of(set, kA).lifetimes.longest, 5u);
  EXPECT_EQ(sums_of(set, kB).live, (BlockAmount{1, 4}));
}

TEST_F(LiveSetTest, WhatWasNeverSeen) {
  LiveSet set = follow();
  set.free(0x10, 0);
  set.reallocate(0x20, 0x20, 16, 1, kA);
  set.finish(1, {});
  EXPECT_EQ(set.events().unknown_frees, 1u);
  EXPECT_EQ(set.events().double_frees, 0u);
  EXPECT_EQ(set.events().unknown_reallocs, 1u);
  EXPECT_EQ(set.total().live, (BlockAmount{1, 16}));
  EXPECT_EQ(set.total().freed, (BlockAmount{0, 0}));
}

TEST_F(LiveSetTest, ASecondFreeIsADoubleFreeUntilThePointerIsAllocatedAgain) {
  LiveSet set = follow();
  set.allocate(0x10, 8, 0, kA);
  set.free(0x10, 1);
  set.free(0x10, 2);
  set.free(0x10, 3);
  set.allocate(0x10, 8, 4, kA);
  set.free(0x10, 5);
  EXPECT_EQ(set.events().double_frees, 2u);
  EXPECT_EQ(set.events().unknown_frees, 0u);
  LiveSet other(1, frees, {});
  other.free(0x10, 6);
  EXPECT_EQ(other.events().unknown_frees, 1u);  // of another allocator
}

TEST_F(LiveSetTest, ABlockThatMovesKeepsItsStackAndItsTime) {
  LiveSet set = follow();
  set.allocate(0x10, 8, 0, kA);
  set.reallocate(0x10, 0x90, 6, 3, kB);
  set.allocate(0x10, 1, 4, kB);
  set.free(0x90, 10);
  set.finish(10, {});
  EXPECT_EQ(sums_of(set, kA).freed, (BlockAmount{1, 8}));  // 2 by the realloc
  EXPECT_EQ(sums_of(set, kA).lifetimes.longest, 10u);
  EXPECT_EQ(sums_of(set, kB).live, (BlockAmount{1, 1}));
  EXPECT_EQ(set.events().unknown_frees, 0u);
}

TEST_F(LiveSetTest, AReallocToNowhereFrees) {
  LiveSet set = follow();
  set.allocate(0x10, 8, 0, kA);
  set.reallocate(0x10, 0, 0, 3, kB);
  set.finish(3, {});
  EXPECT_EQ(set.total().live, (BlockAmount{0, 0}));
  EXPECT_EQ(set.total().freed, (BlockAmount{1, 8}));
}

TEST_F(LiveSetTest, AnotherBlockAtALivePointerReplacesTheOneThere) {
  LiveSet set = follow();
  set.allocate(0x10, 8, 0, kA);
  set.allocate(0x10, 4, 1, kB);
  set.allocate(0x20, 2, 2, kA);
  set.reallocate(0x20, 0x10, 2, 3, kA);
  set.finish(3, {});
  EXPECT_EQ(sums_of(set, kA).replaced, (BlockAmount{1, 8}));
  EXPECT_EQ(sums_of(set, kB).replaced, (BlockAmount{1, 4}));
  EXPECT_EQ(set.total().live, (BlockAmount{1, 2}));
}

// Each stack has what it had at the moment of the whole allocator's peak, the first of equal ones.
TEST_F(LiveSetTest, ThePeakIsThatOfTheWholeAllocator) {
  LiveSet set = follow();
  set.allocate(0x10, 5, 0, kA);
  set.allocate(0x20, 6, 1, kB);
  set.allocate(0x30, 1, 2, kA);  // 12
  set.free(0x20, 3);
  set.allocate(0x40, 6, 4, kA);  // 12 again
  set.free(0x10, 5);
  set.finish(5, {});
  EXPECT_EQ(set.peak_time(), 2u);
  EXPECT_EQ(sums_of(set, kA).peak, (BlockAmount{2, 6}));
  EXPECT_EQ(sums_of(set, kB).peak, (BlockAmount{1, 6}));
  EXPECT_EQ(set.total().peak, (BlockAmount{3, 12}));
}

TEST_F(LiveSetTest, BeforeIsWhatWasLiveAheadOfAMoment) {
  for (const std::uint64_t since : {2u, 3u}) {  // nothing is at 2
    LiveSet set = follow(since);
    set.allocate(0x10, 5, 0, kA);
    set.allocate(0x20, 6, 1, kB);
    set.allocate(0x30, 1, 3, kA);
    set.free(0x20, 4);
    set.finish(4, {});
    EXPECT_EQ(sums_of(set, kA).before, (BlockAmount{1, 5}));
    EXPECT_EQ(sums_of(set, kB).before, (BlockAmount{1, 6}));
  }
  LiveSet set = follow(100);  // behind the end
  set.allocate(0x10, 5, 0, kA);
  set.finish(0, {});
  EXPECT_EQ(set.total().before, (BlockAmount{1, 5}));
}

TEST_F(LiveSetTest, AgesCountToTheEnd) {
  LiveSet set = follow();
  set.allocate(0x10, 5, 10, kA);
  set.allocate(0x20, 6, 20, kA);
  set.allocate(0x30, 7, 30, kB);
  set.finish(50, 30);
  EXPECT_EQ(sums_of(set, kA).older, (BlockAmount{1, 5}));
  EXPECT_EQ(sums_of(set, kA).ages.count, 2u);
  EXPECT_EQ(sums_of(set, kA).ages.mean(), 35);
  EXPECT_EQ(sums_of(set, kA).ages.longest, 40u);
  EXPECT_EQ(sums_of(set, kB).older, (BlockAmount{0, 0}));
}

TEST_F(LiveSetTest, SizesThatNoSumHasRoomForCountAsNothing) {
  LiveSet set = follow();
  for (std::uint64_t n = 0; n < 8; ++n) set.allocate(n, std::uint64_t{1} << 61, n, kA);
  set.allocate(100, ~std::uint64_t{0}, 9, kA);
  set.reallocate(100, 100, ~std::uint64_t{0}, 10, kA);
  set.finish(10, {});
  EXPECT_EQ(set.total().live, (BlockAmount{9, std::uint64_t{1} << 62}));
  EXPECT_EQ(set.events().too_large, 8u);
}

TEST(RecentFrees, RemembersTheLast) {
  RecentFrees frees;
  frees.add(0, 1);
  frees.add(0, 2);
  frees.add(0, 2);  // again: its first free is none to forget it for
  for (std::uint64_t n = 0; n < RecentFrees::kMost - 3; ++n) frees.add(0, 1000 + n);
  EXPECT_TRUE(frees.has(0, 1));
  frees.add(0, 5);
  EXPECT_FALSE(frees.has(0, 1));
  EXPECT_TRUE(frees.has(0, 2));
  frees.add(0, 6);
  EXPECT_TRUE(frees.has(0, 2));
  frees.add(0, 7);
  EXPECT_FALSE(frees.has(0, 2));
  EXPECT_TRUE(frees.has(0, 1000));
}

}  // namespace
}  // namespace ringside::views
