#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>

#include "recording/block.h"
#include "recording/codec/encode.h"
#include "recording/old_record_test_util.h"
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
  const Header header;
  Replay replay(seen, header, kMajorVersion, {.blob_bytes = 1000});
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

// Columns of one byte a row compress far better than what a recording stores.
std::string columns_of(std::size_t rows) {
  ContextTable contexts;
  (void)contexts.intern({}, {});
  SampleBatch batch;
  batch.source = 1;
  batch.times.resize(rows);
  batch.contexts.resize(rows, 1);
  std::string payload;
  encode(Header{}, payload);
  encode(contexts, payload);
  encode(batch, payload);
  return payload;
}

TEST(Bounds, SamplesOfASmallFile) {
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion, {.samples = 1000});
  replay.block(columns_of(600));
  replay.block(columns_of(600));
  EXPECT_EQ(seen.samples.size(), 600u);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("samples beyond 1000")));
  EXPECT_LT(ReplayLimits::of_file(77'000).samples, 14'000'000u);
}

TEST(Bounds, BytesOfTablesAndOfBlobs) {
  const std::string content(400, 'x');
  std::string blobs;
  for (std::uint64_t offset = 0; offset < 2000; offset += 400)
    encode(BlobPiece{kImageFileBlob, 1, offset, 2000, content}, blobs);
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion, {.table_bytes = 1000});
  replay.block(blobs);
  EXPECT_EQ(seen.blobs.size(), 1u);
  replay.block(columns_of(400));
  EXPECT_EQ(seen.samples.size(), 400u);
  replay.block(columns_of(400));
  EXPECT_EQ(seen.samples.size(), 800u);
  replay.block(columns_of(400));
  EXPECT_EQ(seen.samples.size(), 800u);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("records beyond")));
}

// Readers hold them several times, so they count as more than one entry, by their length.
TEST(Bounds, Functions) {
  const auto functions_of = [](std::size_t name) {
    std::string payload;
    ImageInfo image;
    image.id = 1;
    encode(image, payload);
    for (std::uint64_t n = 0; n < 100; ++n)
      encode(ImageFunction{1, {n}, 1, std::string(name, 'x'), false}, payload);
    Collector seen;
    const Header header;
    Replay replay(seen, header, kMajorVersion, {.entries = 200});
    replay.block(payload);
    EXPECT_THAT(seen.left, ElementsAre(HasSubstr("beyond 200 entries")));
    return seen.functions.size();
  };
  EXPECT_LE(functions_of(1), 50u);
  EXPECT_GE(functions_of(1), 25u);
  EXPECT_LE(functions_of(1600), 2u);
  EXPECT_GE(functions_of(1600), 1u);
}

TEST(Bounds, RowsOfOneTable) {
  BlockEncoder encoder;
  std::string bytes = file_header() + encoder.encode(BlockKind::kRecords, 0, columns_of(300'000));
  auto reader = Reader::open(as_bytes(bytes), "long");
  ASSERT_TRUE(reader);
  const Collector seen = collect(*reader);
  EXPECT_TRUE(seen.samples.empty());
  EXPECT_THAT(seen.warnings, ElementsAre(HasSubstr("more rows")));
}

TEST(Bounds, EntriesOfTables) {
  ContextTable contexts;
  for (std::uint32_t pid = 1; pid <= 10; ++pid) {
    SampleInfo info;
    info.pid = pid;
    (void)contexts.intern(info, {});
  }
  std::string payload;
  encode(contexts, payload);
  SampleBatch batch;
  batch.source = 1;
  batch.times.resize(10);
  for (std::uint32_t context = 1; context <= 10; ++context) batch.contexts.push_back(context);
  encode(batch, payload);
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion, {.entries = 15});
  replay.block(payload);
  ASSERT_EQ(seen.samples.size(), 10u);
  EXPECT_EQ(seen.samples[4].info.pid, 5u);
  EXPECT_EQ(seen.samples[4].stacks.size(), 0u);
  EXPECT_EQ(seen.samples[5].info.pid, std::nullopt);
  ASSERT_EQ(seen.samples[5].stacks.size(), 1u);
  EXPECT_EQ(seen.samples[5].stacks[0].node, kLostStack);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("beyond 15 entries")));
}

// A sample of version 1 may have as many stacks as fit into a block.
TEST(Bounds, StacksOfOneSample) {
  const std::vector<StackRef> stacks(1000);
  Collector seen;
  const Header header;
  Replay replay(seen, header, 1);
  replay.block(testing::old_sample_record({}, WeightUnit::kTicks, stacks));
  ASSERT_EQ(seen.samples.size(), 1u);
  EXPECT_EQ(seen.samples[0].stacks.size(), kMostStacks);
}

TEST(Bounds, SourcesAndTheirValues) {
  Source source;
  source.values.assign(100, {"value", WeightUnit::kBytes, 1});
  std::string payload;
  for (source.id = 1; source.id <= 2000; ++source.id) encode(source, payload);
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion);
  replay.block(payload);
  EXPECT_EQ(seen.sources.size(), 1024u);
  EXPECT_EQ(seen.sources[0].values.size(), kMostColumns);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("sources beyond 1024")));
}

// To fill it up would take 32 bytes for each row that is not there.
TEST(Bounds, AColumnOfBytesThatIsTooShort) {
  std::string payload;
  encode(Source{1, "source", {}, 0, 0, "", {{"count", {}, 1}}}, payload);
  encode(EventType{1, "event", 1, {{"bytes", FieldType::kBytes, {}}}}, payload);
  EventBatch batch{1,
                   0,
                   std::vector<std::uint64_t>(1000),
                   std::vector<std::uint32_t>(1000),
                   {},
                   {},
                   {{{}, {"one"}}}};
  encode(batch, payload);
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion);
  replay.block(payload);
  ASSERT_EQ(seen.event_batches.size(), 1u);
  EXPECT_EQ(seen.event_batches[0].size(), 1000u);
  EXPECT_TRUE(seen.event_batches[0].fields[0].bytes.empty());
}

// Each key is kept.
TEST(Bounds, Counters) {
  std::string payload;
  encode(Source{1, "source", {}, 0, 0, "", {{"count", {}, 1}}}, payload);
  encode(CounterSet{1, "counters", 1, {{"address", KeyKind::kOffset}}}, payload);
  CounterBatch batch{1, 0, {std::vector<std::uint64_t>(600)}, {}};
  encode(batch, payload);
  encode(batch, payload);
  Collector seen;
  const Header header;
  Replay replay(seen, header, kMajorVersion, {.entries = 1000});
  replay.block(payload);
  EXPECT_EQ(seen.counter_batches.size(), 1u);
  EXPECT_THAT(seen.left, ElementsAre(HasSubstr("beyond 1000 entries")));
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
  const auto read = reader->for_each(seen);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kTruncated);
  EXPECT_FALSE(seen.warnings.empty());
}

}  // namespace
}  // namespace ringside::recording
