#include "plugin/stolen_time.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace ringside::plugin {
namespace {

// A thread's schedstat, written by the test: how long it has run, how long it has waited.
class StolenTimeTest : public testing::Test {
 protected:
  StolenTimeTest() { waited_so_far(1'000'000); }
  ~StolenTimeTest() override { std::filesystem::remove(path_); }

  void waited_so_far(std::uint64_t ns) { std::ofstream(path_) << "12345 " << ns << " 3\n"; }
  void begin() { stolen_.begin(wire::HostWait(path_.c_str())); }

  std::string path_ = testing::TempDir() + "schedstat-" + std::to_string(::getpid());
  StolenTime stolen_;
};

TEST_F(StolenTimeTest, OwnTimeStandsStillInAWait) {
  begin();
  stolen_.look(50'000'000, 0);
  EXPECT_EQ(stolen_.own_ns(), 49'000'000u);
  EXPECT_FALSE(stolen_.has_waited());
  waited_so_far(4'000'000);
  stolen_.look(53'000'000, 0);
  EXPECT_EQ(stolen_.own_ns(), 49'000'000u);
  EXPECT_TRUE(stolen_.has_waited());
}

// One wait loses what was due about then, and nothing that comes after: a plugin that kept an old
// look lost nearly all ticks of a loaded host.
TEST_F(StolenTimeTest, AWaitIsOverWithTheNextLook) {
  begin();
  stolen_.look(10'000'000, 0);
  waited_so_far(1'060'000);
  stolen_.look(10'100'000, 0);
  EXPECT_TRUE(stolen_.has_waited());
  for (std::uint64_t tick = 2; tick < 100; ++tick) {
    stolen_.look(10'000'000 + tick * 100'000, 0);
    EXPECT_FALSE(stolen_.has_waited()) << tick;
  }
}

TEST_F(StolenTimeTest, AMomentIsNoWait) {
  begin();
  waited_so_far(1'040'000);
  stolen_.look(10'000'000, 0);
  EXPECT_FALSE(stolen_.has_waited());
}

TEST_F(StolenTimeTest, AThreadThatRunsIsNotAsked) {
  begin();
  stolen_.look(10'000'000, 2'000'000);
  waited_so_far(1'500'000);
  stolen_.look(11'000'000, 2'990'000);
  EXPECT_EQ(stolen_.own_ns(), 10'000'000u);
  EXPECT_FALSE(stolen_.has_waited());
  // Moments add up until the kernel is asked; none of them is a wait.
  stolen_.look(12'000'000, 3'945'000);
  EXPECT_EQ(stolen_.own_ns(), 10'500'000u);
  EXPECT_FALSE(stolen_.has_waited());
  waited_so_far(1'600'000);
  stolen_.look(13'000'000, 4'845'000);
  EXPECT_EQ(stolen_.own_ns(), 11'400'000u);
  EXPECT_TRUE(stolen_.has_waited());
}

// Waits of less than an interval add up.
TEST_F(StolenTimeTest, WaitsAreCountedInIntervals) {
  begin();
  EXPECT_EQ(stolen_.take_intervals(100'000), 0u);
  std::uint64_t intervals = 0;
  for (std::uint64_t wait = 1; wait <= 10; ++wait) {
    waited_so_far(1'000'000 + wait * 130'000);
    stolen_.look(10'000'000 + wait * 200'000, 0);
    intervals += stolen_.take_intervals(100'000);
  }
  EXPECT_EQ(intervals, 13u);
}

// The host tells nothing of waits: the thread has never waited.
TEST_F(StolenTimeTest, WithoutASource) {
  stolen_.look(7'000, 0);
  EXPECT_EQ(stolen_.own_ns(), 7'000u);
  EXPECT_FALSE(stolen_.has_waited());
  EXPECT_EQ(stolen_.take_intervals(100), 0u);
}

}  // namespace
}  // namespace ringside::plugin
