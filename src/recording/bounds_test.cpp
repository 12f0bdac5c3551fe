#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "recording/block.h"
#include "recording/codec/encode.h"
#include "recording/recording_test_util.h"
#include "recording/replay.h"

namespace ringside::recording {
namespace {

using testing::collect;
using testing::Collector;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::make_stack;
using testing::sampled;
using testing::TempDir;

Stack stack_of(std::size_t frames) {
  std::vector<std::uint64_t> addresses(frames);
  for (std::size_t i = 0; i < frames; ++i) addresses[i] = 0x1000 + i;
  return make_stack(addresses);
}

TEST(Bounds, AStackIsNotDeeperThanTheUnwinderGoes) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  const std::size_t depths[] = {1, 512, 513, 5000};
  for (const std::size_t depth : depths) {
    const Stack stack = stack_of(depth);
    ASSERT_TRUE(writer->add_sample(sampled(depth), &stack));
  }
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  const Collector seen = collect(*reader);
  ASSERT_EQ(seen.samples.size(), 4u);
  EXPECT_EQ(seen.addresses(seen.samples[0].stacks[0]).size(), 1u);
  EXPECT_EQ(seen.addresses(seen.samples[1].stacks[0]).size(), 512u);
  EXPECT_EQ(seen.samples[2].stacks[0].node, kLostStack);
  EXPECT_EQ(seen.samples[3].stacks[0].node, kLostStack);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("more than 512 frames")));
}

TEST(Bounds, StoredImagesTogether) {
  const std::string content(400, 'x');
  std::string payload;
  for (std::uint32_t image = 1; image <= 4; ++image)
    encode(BlobPiece{kImageFileBlob, image, 0, content.size(), content}, payload);
  Collector seen;
  Replay replay(seen, {.blob_bytes = 1000});
  replay.block(payload);
  replay.block(payload);
  EXPECT_EQ(seen.blobs.size(), 2u);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("left out")));
}

// Zeros compress far better than what a recording stores.
TEST(Bounds, StoredImagesOfASmallFile) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  const auto image = writer->add_image({});
  ASSERT_TRUE(image);
  const std::vector<std::byte> zeros(20 << 20);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(writer->add_blob({kImageFileBlob, *image, zeros}));
  ASSERT_TRUE(writer->finish());
  ASSERT_LT(std::filesystem::file_size(dir / "a.data"), 100'000u);
  auto reader = Reader::open(dir / "a.data");
  const Collector seen = collect(*reader);
  EXPECT_EQ(seen.blobs.size(), 1u);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("left out")));
  EXPECT_EQ(ReplayLimits::of_file(100 << 20).blob_bytes, kMostBlobBytes);
}

// Each header is right and claims the bytes of thousands behind it, and each payload is wrong.
TEST(Bounds, BlocksThatClaimEachOthersBytes) {
  constexpr std::size_t kHeaders = 30'000;
  BlockEncoder encoder;
  std::string noise(kMaxBlockSize, '\0');
  std::uint32_t state = 1;
  for (char& c : noise) c = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  std::string bytes = file_header() + encoder.encode(BlockKind::kRecords, 0, "");
  for (std::uint32_t i = 1; i <= kHeaders; ++i) {
    static const std::string block = encoder.encode(BlockKind::kRecords, 1, noise);
    bytes += block.substr(0, kBlockHeaderSize);
  }
  bytes += std::string(kMaxBlockSize, '\0') + encoder.encode(BlockKind::kRecords, 1, "");
  const std::clock_t start = std::clock();
  auto reader = Reader::open(as_bytes(bytes), "scan.data");
  const std::clock_t used = std::clock() - start;
  ASSERT_TRUE(reader);
  EXPECT_FALSE(reader->complete());
  // 120 GB would have to be read; what is allowed is twice the file.
  EXPECT_LT(used, 2 * CLOCKS_PER_SEC);
}

TEST(Bounds, AFileThatShrinksWhileItIsReadIsDamaged) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Stack stack = make_stack({0x1000 + i, 0x2000});
    ASSERT_TRUE(writer->add_sample(sampled(i), &stack));
  }
  ASSERT_TRUE(writer->finish());
  auto reader = Reader::open(dir / "a.data");
  ASSERT_TRUE(reader);
  std::filesystem::resize_file(dir / "a.data", 100);
  Collector seen;
  EXPECT_TRUE(reader->for_each(seen));
  EXPECT_FALSE(seen.warnings.empty());
}

}  // namespace
}  // namespace ringside::recording
