#include "wire/guest_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "wire/testing/guest_rings.h"

namespace ringside::wire {
namespace {

using namespace testing;

using Buffer = std::vector<std::byte>;

// Takes out what is in a CPU's ring, through a buffer of some size.
void drain(std::uint32_t cpu, Buffer& out, std::size_t buffer_bytes = RINGSIDE_LEAST_BUFFER) {
  std::vector<std::uint64_t> buffer(buffer_bytes / 8);
  while (const std::size_t bytes = ringside_drain(cpu, buffer.data(), buffer_bytes)) {
    ASSERT_LE(bytes, buffer_bytes);
    const auto written = std::as_bytes(std::span(buffer)).first(bytes);
    out.insert(out.end(), written.begin(), written.end());
  }
}

struct Seen {
  std::vector<std::uint32_t> ids;
  std::uint64_t infos = 0;
  std::uint32_t lost = 0;  // of the last info

  GuestStream::Visit visit() {
    return [this](const GuestRecord& record, std::uint64_t) -> Result<void> {
      if (record.kind == GuestRecordKind::kInfo) {
        EXPECT_EQ(record.info.arch, Arch::kX86_64);
        EXPECT_EQ(record.info.clock_hz, 1'000'000u);
        EXPECT_EQ(record.info.anchor_name, "the_time");
        lost = record.info.lost;
        ++infos;
        return {};
      }
      expect_sample(record);
      ids.push_back(record.task.pid);
      return {};
    };
  }
};

TEST(GuestStream, HasAllThatWasDrained) {
  const GuestRings rings(2, 1024, RINGSIDE_DROP);
  std::mt19937 random(2);
  Buffer bytes;
  std::uint32_t id = 0;
  for (int round = 0; round < 300; ++round) {
    for (std::uint32_t words = 0; words < 800;) {
      const auto frames = static_cast<std::uint32_t>(random() % 129);
      put_sample(id % 2, id, frames);
      ++id;
      words += 8 + frames;
    }
    drain(0, bytes);
    drain(1, bytes, 5000 + random() % 9000);
  }
  GuestStream stream;
  Seen seen;
  ASSERT_EQ(stream.read(bytes, true, seen.visit()), bytes.size());
  EXPECT_EQ(seen.ids.size(), id);
  EXPECT_GT(seen.infos, 10u);
  EXPECT_EQ(stream.skipped(), 0u);
  for (const auto& [cpu, sequences] : stream.cpus()) EXPECT_EQ(sequences.lost(), 0u) << cpu;
}

// 64 records of 16 words fill the ring to its last word.
TEST(GuestStream, CountsWhatAFullRingDrops) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP);
  for (std::uint32_t id = 0; id < 64; ++id) put_sample(0, id, 8);
  EXPECT_EQ(ringside_lost(0), 0u);
  for (std::uint32_t id = 64; id < 70; ++id) put_sample(0, id, 8);
  EXPECT_EQ(ringside_lost(0), 6u);
  Buffer bytes;
  drain(0, bytes);
  GuestStream stream;
  Seen seen;
  ASSERT_TRUE(stream.read(bytes, true, seen.visit()));
  EXPECT_EQ(seen.ids.size(), 64u);
  EXPECT_EQ(seen.lost, 6u);
  EXPECT_EQ(stream.cpus().at(0).read(), 64u);
  EXPECT_EQ(stream.cpus().at(0).lost(), 6u);
  put_sample(0, 70, 8);
  Buffer more;
  drain(0, more);
  ASSERT_TRUE(stream.read(more, true, seen.visit()));
  EXPECT_EQ(seen.ids.back(), 70u);
  EXPECT_EQ(stream.cpus().at(0).lost(), 6u);
}

TEST(GuestStream, IsReadInAnyPieces) {
  const GuestRings rings(1, 1024, RINGSIDE_DROP);
  Buffer bytes;
  for (std::uint32_t id = 0; id < 200; ++id) {
    put_sample(0, id, id % 100);
    drain(0, bytes);
  }
  GuestStream stream;
  Seen seen;
  std::mt19937 random(3);
  Buffer held;
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t size = std::min<std::size_t>(1 + random() % 300, bytes.size() - at);
    held.insert(held.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at),
                bytes.begin() + static_cast<std::ptrdiff_t>(at + size));
    at += size;
    const auto done = stream.read(held, at == bytes.size(), seen.visit());
    ASSERT_TRUE(done);
    held.erase(held.begin(), held.begin() + static_cast<std::ptrdiff_t>(*done));
    ASSERT_LT(held.size(), 8 * kMostGuestRecordWords);
  }
  EXPECT_EQ(seen.ids.size(), 200u);
  EXPECT_EQ(stream.skipped(), 0u);
}

// Bytes go missing, change, and are added. Each fault costs the records that it is in, and what is
// missing is counted.
TEST(GuestStream, FindsItsWayAfterAFault) {
  const GuestRings rings(1, 1 << 16, RINGSIDE_DROP);
  Buffer bytes;
  constexpr std::uint32_t kRecords = 2000;
  for (std::uint32_t id = 0; id < kRecords; ++id) put_sample(0, id, 8);
  drain(0, bytes);
  for (const int kind : {0, 1, 2}) {
    Buffer damaged = bytes;
    std::mt19937 random(4);
    constexpr std::uint32_t kFaults = 20;
    for (std::uint32_t i = 0; i < kFaults; ++i) {
      // Not in the last record, behind which nothing shows that there was one.
      const auto at =
          damaged.begin() + static_cast<std::ptrdiff_t>(random() % (damaged.size() - 200));
      if (kind == 0)
        damaged.erase(at);
      else if (kind == 1)
        *at ^= static_cast<std::byte>(1 + random() % 255);
      else
        damaged.insert(at, static_cast<std::byte>(random()));
    }
    GuestStream stream;
    Seen seen;
    ASSERT_EQ(stream.read(damaged, true, seen.visit()), damaged.size());
    EXPECT_GE(seen.ids.size(), kRecords - kFaults);
    EXPECT_LT(seen.ids.size(), kRecords);
    EXPECT_GT(stream.skipped(), 0u);
    // Records in front of the first that is whole are not known of.
    const std::uint64_t unseen = seen.ids.front();
    EXPECT_EQ(unseen + stream.cpus().at(0).read() + stream.cpus().at(0).lost(), kRecords);
    for (std::size_t i = 1; i < seen.ids.size(); ++i) EXPECT_LT(seen.ids[i - 1], seen.ids[i]);
  }
}

TEST(GuestStream, TakesNothingFromNoise) {
  std::mt19937 random(5);
  Buffer noise(1 << 20);
  for (std::byte& byte : noise) byte = static_cast<std::byte>(random());
  GuestStream stream;
  Seen seen;
  ASSERT_EQ(stream.read(noise, true, seen.visit()), noise.size());
  EXPECT_EQ(stream.skipped(), noise.size());
  EXPECT_EQ(seen.ids.size() + seen.infos, 0u);
}

}  // namespace
}  // namespace ringside::wire
