#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording/counters.h"
#include "recording/reader.h"
#include "recording/recording_test_util.h"

namespace ringside::recording {
namespace {

using ::testing::HasSubstr;
using testing::make_stack;
using testing::sampled;
using testing::TempDir;
using testing::with;

// 20 ticks: 12 were sampled in 8 samples, 3 found the vCPU idle, and 5 were lost.
Statistics right() {
  Statistics statistics;
  statistics.due = 20;
  statistics.lost = 5;
  statistics.counters = {{kLostByHost, 3}, {kLostLate, 2}, {kStackBytesCounter, 4096}};
  return statistics;
}

Result<void> read(const std::filesystem::path& path) {
  auto reader = Reader::open(path);
  EXPECT_TRUE(reader);
  Visitor visitor;
  return reader->for_each(visitor);
}

class CountCheckTest : public ::testing::Test {
 protected:
  Result<void> read_with(const Statistics& statistics) {
    auto writer = Writer::create(path_, Header());
    EXPECT_TRUE(writer);
    const Stack stack = make_stack({1, 2});
    for (std::uint64_t i = 0; i < 8; ++i)
      EXPECT_TRUE(writer->add_sample(sampled(i, 0, i < 4 ? 2 : 1), &stack));
    EXPECT_TRUE(writer->add_sample(with(sampled(9, 0, 3), wire::Disposition::kIdle), nullptr));
    EXPECT_TRUE(writer->add_statistics(statistics));
    EXPECT_TRUE(writer->finish());
    return read(path_);
  }
  void expect_damaged(const Statistics& statistics, const char* what) {
    const auto result = read_with(statistics);
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::kFormat);
    EXPECT_THAT(result.error().message, HasSubstr(path_.string() + ": its counts are damaged: "));
    EXPECT_THAT(result.error().message, HasSubstr(what));
  }

  TempDir folder_;
  std::filesystem::path path_ = folder_ / "a.data";
};

TEST_F(CountCheckTest, FiguresThatAddUpAreRead) {
  EXPECT_TRUE(read_with(right()));
  Statistics more = right();
  more.due = 21;  // as where a sample is missing
  EXPECT_TRUE(read_with(more));
  Statistics without_reasons = right();
  without_reasons.counters.clear();
  EXPECT_TRUE(read_with(without_reasons));
}

TEST_F(CountCheckTest, FiguresThatAreTooSmallAreDamage) {
  Statistics wrong = right();
  wrong.due = 19;
  expect_damaged(wrong, "of the 19 ticks that were due, 15 are there and 5 are lost");
  wrong = right();
  wrong.due = 0;
  expect_damaged(wrong, "of the 0 ticks that were due");
  wrong = right();
  wrong.lost = 4;
  expect_damaged(wrong, "of its 4 lost ticks, 5 have a reason");
}

// As importers have done it: 9 samples are there, of 15 ticks.
TEST_F(CountCheckTest, TicksMayBeCountedAsSamples) {
  Statistics samples = right();
  samples.due = 14;
  EXPECT_TRUE(read_with(samples));
  samples.due = 13;
  expect_damaged(samples, "of the 13 ticks that were due, 15 are there and 5 are lost");
  samples.due = 15;  // neither
  expect_damaged(samples, "of the 15 ticks that were due, 15 are there and 5 are lost");
}

TEST_F(CountCheckTest, FiguresThatAreTooLargeToAddAreDamage) {
  Statistics wrong = right();
  wrong.lost = ~std::uint64_t{0};
  expect_damaged(wrong, "ticks that were due, 15 are there");
  wrong = right();
  wrong.counters[kLostByHost] = ~std::uint64_t{0} - 1;
  expect_damaged(wrong, "lost ticks");
}

TEST_F(CountCheckTest, TheLastFiguresOfASourceCount) {
  auto writer = Writer::create(path_, Header());
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->add_sample(sampled(1), nullptr));
  ASSERT_TRUE(writer->add_statistics({}));
  ASSERT_TRUE(writer->add_statistics(right()));
  ASSERT_TRUE(writer->finish());
  EXPECT_TRUE(read(path_));
}

TEST_F(CountCheckTest, ARecordingThatHasShrunkSinceIsNotShown) {
  ASSERT_TRUE(read_with(right()));
  auto reader = Reader::open(path_);
  ASSERT_TRUE(reader);
  const auto size = std::filesystem::file_size(path_);
  for (const std::uintmax_t left : {size - 1, size / 2, std::uintmax_t{0}}) {
    std::filesystem::resize_file(path_, left);
    Visitor visitor;
    const auto result = reader->for_each(visitor);
    ASSERT_FALSE(result) << left;
    EXPECT_EQ(result.error().code, ErrorCode::kTruncated);
    EXPECT_THAT(result.error().message, HasSubstr("a.data became shorter while it was read"));
  }
}

// As its writer does where the disk is full.
TEST_F(CountCheckTest, OneThatLosesACutBlockIsRead) {
  ASSERT_TRUE(read_with(right()));
  const auto size = std::filesystem::file_size(path_);
  std::ofstream(path_, std::ios::app) << "half a block";
  auto reader = Reader::open(path_);
  ASSERT_TRUE(reader);
  std::filesystem::resize_file(path_, size);
  Visitor visitor;
  EXPECT_TRUE(reader->for_each(visitor));
}

}  // namespace
}  // namespace ringside::recording
