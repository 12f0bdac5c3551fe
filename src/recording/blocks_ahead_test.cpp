#include "recording/blocks_ahead.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/testing/one_processor.h"
#include "recording/codec/encode.h"
#include "recording/recording_test_util.h"
#include "recording/replay.h"

namespace ringside::recording {
namespace {

using testing::Collector;
using ::testing::HasSubstr;

// Blocks one behind the other, without the header of a file.
class Blocks {
 public:
  void add(std::string_view payload) {
    offsets_.push_back(bytes_.size());
    bytes_ +=
        encoder_.encode(BlockKind::kRecords, static_cast<std::uint32_t>(offsets_.size()), payload);
  }
  // Changes a byte of the last block.
  void damage_last() { bytes_.back() = static_cast<char>(bytes_.back() ^ 1); }
  [[nodiscard]] BlocksAhead ahead() const { return {as_bytes(bytes_), offsets_, true}; }

 private:
  BlockEncoder encoder_;
  std::string bytes_;
  std::vector<std::size_t> offsets_;
};

// `rows` samples of one context, a nanosecond apart.
SampleBatch batch_of(std::size_t rows, std::uint64_t first_time = 0) {
  SampleBatch batch;
  batch.source = kCpuSource;
  for (std::size_t row = 0; row < rows; ++row) batch.times.push_back(first_time + row);
  batch.contexts.assign(rows, 1);
  return batch;
}

void expect_all_in_order() {
  constexpr std::uint32_t kBlocks = 40;  // of 128 KiB: several groups
  Blocks blocks;
  for (std::uint32_t i = 0; i < kBlocks; ++i)
    blocks.add(std::string(128 << 10, static_cast<char>('A' + i)));
  BlocksAhead ahead = blocks.ahead();
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    DecodedBlock* const block = ahead.next();
    ASSERT_NE(block, nullptr);
    EXPECT_EQ(block->sequence, i + 1);
    EXPECT_EQ(block->error, "");
    EXPECT_EQ(block->payload, std::string(128 << 10, static_cast<char>('A' + i)));
  }
  EXPECT_EQ(ahead.next(), nullptr);
  EXPECT_EQ(ahead.next(), nullptr);
}

TEST(BlocksAhead, GivesAllInOrder) { expect_all_in_order(); }

TEST(BlocksAhead, GivesAllInOrderOnOneProcessor) {
  const ringside::testing::OneProcessor one;
  expect_all_in_order();
}

TEST(BlocksAhead, MayBeLeftAtAnyTime) {
  Blocks blocks;
  for (int i = 0; i < 40; ++i) blocks.add(std::string(128 << 10, 'x'));
  for (int taken = 0; taken < 12; ++taken) {
    BlocksAhead ahead = blocks.ahead();
    for (int i = 0; i < taken; ++i) ASSERT_NE(ahead.next(), nullptr);
  }
}

TEST(BlocksAhead, ABlockThatCannotBeDecompressedSaysSo) {
  Blocks blocks;
  blocks.add("first");
  blocks.add(std::string(1000, 'x'));
  blocks.damage_last();
  blocks.add("third");
  BlocksAhead ahead = blocks.ahead();
  EXPECT_EQ(ahead.next()->payload, "first");
  EXPECT_THAT(ahead.next()->error, HasSubstr("block 2: "));
  const DecodedBlock* const third = ahead.next();
  EXPECT_EQ(third->payload, "third");
  EXPECT_EQ(third->error, "");
}

TEST(BlocksAhead, AReplayTakesWhatIsDecodedAndDecodesTheRest) {
  constexpr std::size_t kRows = 100'000;  // the first two are decoded ahead
  std::string payload;
  for (std::uint64_t i = 0; i < 4; ++i) encode(batch_of(kRows, 1'000'000 * i), payload);
  Blocks blocks;
  blocks.add(payload);
  BlocksAhead ahead = blocks.ahead();
  DecodedBlock* const block = ahead.next();
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->decoded().size(), 2u);
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion);
  replay.block(block->payload, block->decoded());
  ASSERT_EQ(seen.samples.size(), 4 * kRows);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(seen.samples[i * kRows].info.time_ns, 1'000'000 * i);
    EXPECT_EQ(seen.samples[(i + 1) * kRows - 1].info.time_ns, 1'000'000 * i + kRows - 1);
  }
}

// Three bytes each in the file, and a hundred in memory.
TEST(BlocksAhead, FewOfVeryManyBatchesAreDecodedAhead) {
  std::string payload;
  for (int i = 0; i < 100'000; ++i) payload += std::string("\xaa\x01\x00", 3);
  Blocks blocks;
  for (int i = 0; i < 3; ++i) blocks.add(payload);
  BlocksAhead ahead = blocks.ahead();
  std::size_t decoded = 0;
  for (DecodedBlock* block = ahead.next(); block != nullptr; block = ahead.next()) {
    EXPECT_EQ(block->payload, payload);
    decoded += block->decoded().size();
  }
  EXPECT_EQ(decoded, 1024u);
}

TEST(BlocksAhead, BlocksWithoutContentAreManyGroups) {
  Blocks blocks;
  for (int i = 0; i < 1000; ++i) blocks.add("");
  BlocksAhead ahead = blocks.ahead();
  std::uint32_t count = 0;
  while (const DecodedBlock* const block = ahead.next()) EXPECT_EQ(block->sequence, ++count);
  EXPECT_EQ(count, 1000u);
}

TEST(BlocksAhead, ABatchThatIsNoMessageIsLeftToTheReplay) {
  std::string payload;
  encode(batch_of(3), payload);
  const std::size_t whole = payload.size();
  encode(batch_of(3, 100), payload);
  payload[whole + 2] = '\xff';  // the tag of its first field
  Blocks blocks;
  blocks.add(payload);
  BlocksAhead ahead = blocks.ahead();
  DecodedBlock* const block = ahead.next();
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(block->decoded().size(), 1u);
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion);
  EXPECT_THROW(replay.block(block->payload, block->decoded()), protozero::exception);
  EXPECT_EQ(seen.samples.size(), 3u);
}

}  // namespace
}  // namespace ringside::recording
