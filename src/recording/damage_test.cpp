#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "recording/block.h"
#include "recording/recording_test_util.h"

namespace ringside::recording {
namespace {

using testing::collect;
using testing::Collector;
using testing::make_stack;
using testing::sampled;
using testing::TempDir;

// Blocks of 20 samples; stack i has the address i, so that a wrong stack shows.
std::string make_recording(std::size_t blocks) {
  TempDir dir;
  auto writer = Writer::create(dir / "a.data", {});
  std::uint64_t next = 1;
  for (std::size_t block = 0; block < blocks; ++block) {
    for (int i = 0; i < 20; ++i, ++next) {
      const Stack stack = make_stack({0x1000 + next % 30, 0x2000 + next % 7, 0x3000});
      EXPECT_TRUE(writer->add_sample(sampled(next), &stack));
    }
    EXPECT_TRUE(writer->flush());
  }
  EXPECT_TRUE(writer->finish());
  return testing::slurp(dir / "a.data");
}

std::vector<std::size_t> block_ends(const std::string& bytes) {
  std::vector<std::size_t> ends;
  std::size_t offset = kFileHeaderSize;
  while (const auto header = parse_block_header(as_bytes(bytes).subspan(offset)))
    ends.push_back(offset += kBlockHeaderSize + header->stored_size);
  EXPECT_EQ(offset, bytes.size());
  return ends;
}

void expect_right_stacks(const Collector& seen) {
  for (const Sample& sample : seen.samples) {
    ASSERT_EQ(sample.stacks.size(), 1u);
    if (sample.stacks[0].node == kLostStack) continue;
    const std::uint64_t n = sample.info.time_ns;
    EXPECT_EQ(seen.addresses(sample.stacks[0]),
              (std::vector<std::uint64_t>{0x1000 + n % 30, 0x2000 + n % 7, 0x3000}));
  }
}

TEST(Damage, TruncatedAtEveryByte) {
  const std::string bytes = make_recording(6);
  const std::vector<std::size_t> ends = block_ends(bytes);
  ASSERT_EQ(ends.size(), 8u);  // header, six of samples, end
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto whole =
        static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), size) - ends.begin());
    auto reader = Reader::open(as_bytes(bytes).first(size), "cut.data");
    ASSERT_EQ(reader.has_value(), whole >= 1) << size;
    if (!reader) {
      EXPECT_NE(reader.error().message.find("cut.data"), std::string::npos);
      continue;
    }
    EXPECT_FALSE(reader->complete());
    EXPECT_NE(reader->damage(), "");
    EXPECT_EQ(reader->end(), ends[whole - 1]);
    const Collector seen = collect(*reader);
    ASSERT_EQ(seen.samples.size(), 20 * (whole - 1)) << size;
    expect_right_stacks(seen);
    for (const Sample& sample : seen.samples) EXPECT_NE(sample.stacks[0].node, kLostStack);
  }
}

// As on a disk, which goes on behind it.
TEST(Damage, ARecordingEndsBeforeWhatFollowsIt) {
  const std::string bytes = make_recording(2);
  for (const std::string& more : {std::string(), std::string(5000, '\0'), bytes}) {
    const std::string file = bytes + more;
    const auto reader = Reader::open(as_bytes(file), "long.data");
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->end(), bytes.size());
  }
}

TEST(Damage, ADamagedBlockIsSkipped) {
  const std::string bytes = make_recording(6);
  const std::vector<std::size_t> ends = block_ends(bytes);
  for (std::size_t block = 1; block < 7; ++block) {
    std::string damaged = bytes;
    damaged[ends[block - 1] + kBlockHeaderSize + 5] ^= 0x10;
    auto reader = Reader::open(as_bytes(damaged), "bad.data");
    ASSERT_TRUE(reader);
    EXPECT_FALSE(reader->complete());
    EXPECT_EQ(reader->lost_blocks(), 1u);
    EXPECT_NE(reader->damage().find(fmt::format("{:#x}", ends[block - 1])), std::string::npos)
        << reader->damage();
    const Collector seen = collect(*reader);
    EXPECT_EQ(seen.samples.size(), 100u);
    expect_right_stacks(seen);
  }
}

TEST(Damage, EveryBitOfASmallRecording) {
  const std::string bytes = make_recording(2);
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] ^= static_cast<char>(1 << bit % 8);
    auto reader = Reader::open(as_bytes(damaged), "bad.data");
    if (bit >= kFileHeaderSize * 8) {
      ASSERT_TRUE(reader) << bit;
      EXPECT_FALSE(reader->complete()) << bit;
    }
    if (!reader) continue;
    const Collector seen = collect(*reader);
    EXPECT_GE(seen.samples.size(), 20u) << bit;
    expect_right_stacks(seen);
  }
}

TEST(Damage, RandomHolesAndOverwrites) {
  const std::string bytes = make_recording(40);
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::string damaged = bytes;
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = random() % damaged.size();
      const std::size_t size = std::min<std::size_t>(random() % 400, damaged.size() - at);
      if (random() % 2 == 0)
        damaged.erase(at, size);
      else
        for (std::size_t k = at; k < at + size; ++k) damaged[k] = static_cast<char>(random());
    }
    auto reader = Reader::open(as_bytes(damaged), "bad.data");
    if (!reader) continue;
    expect_right_stacks(collect(*reader));
  }
}

TEST(Damage, MessagesNameTheFileAndWhatToDo) {
  TempDir dir;
  const auto message_of = [&](const std::string& content) {
    std::ofstream(dir / "x.data") << content;
    const auto reader = Reader::open(dir / "x.data");
    return reader ? std::string("no error") : reader.error().message;
  };
  const std::string name = (dir / "x.data").string();
  EXPECT_EQ(message_of(""), name + " is empty: `ringside record` writes recordings");
  EXPECT_EQ(message_of("PERFILE2"),
            name + " is not a recording of ringside; `ringside import` reads other formats");
  std::string newer = make_recording(1);
  newer[8] = 9;
  EXPECT_EQ(
      message_of(newer),
      name + " has format 9.0, this ringside reads 1.x to 2.x: use the version that recorded it");
  EXPECT_EQ(message_of(make_recording(1).substr(0, 30)),
            name + " holds no whole block: nothing was recorded");
  const auto missing = Reader::open(dir / "none.data");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find("none.data"), std::string::npos);
}

}  // namespace
}  // namespace ringside::recording
