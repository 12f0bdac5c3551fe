#include "wire/guest_area.h"

#include <gtest/gtest.h>

#include <cstring>

#include "base/little_endian.h"
#include "wire/testing/guest_rings.h"

namespace ringside::wire {
namespace {

using testing::GuestRings;

TEST(GuestArea, DescribesTheRings) {
  const GuestRings rings(3, 2048, RINGSIDE_OVERWRITE);
  EXPECT_EQ(rings.area().arch, Arch::kX86_64);
  EXPECT_EQ(rings.area().cpus, 3u);
  EXPECT_EQ(rings.area().ring_words, 2048u);
  EXPECT_EQ(rings.area().clock_hz, 1'000'000u);
  EXPECT_EQ(rings.area().self.value, reinterpret_cast<std::uintptr_t>(rings.bytes().data()));
  EXPECT_EQ(rings.area().anchor.value, reinterpret_cast<std::uintptr_t>(&testing::the_time));
  EXPECT_EQ(rings.area().anchor_name, "the_time");
  EXPECT_EQ(rings.area().bytes(), rings.bytes().size());
}

// By the table of GUEST_RING.md: what reads rings need not be ringside.
TEST(GuestArea, BeginsWithTheBytesOfTheDocument) {
  const GuestRings rings(2, 1024, RINGSIDE_DROP);
  const Bytes bytes = rings.bytes();
  EXPECT_EQ(std::memcmp(bytes.data(), "RINGSIDE\x58\x43\x7c\xe0\x2b\x6a\x1f\x9d", 16), 0);
  EXPECT_EQ(load<std::uint32_t>(bytes, 16), 1u);
  EXPECT_EQ(load<std::uint8_t>(bytes, 24), static_cast<std::uint8_t>(Arch::kX86_64));
  EXPECT_EQ(load<std::uint8_t>(bytes, 25), sizeof(void*));
  EXPECT_EQ(load<std::uint8_t>(bytes, 26), 1u);  // drop
  EXPECT_EQ(load<std::uint32_t>(bytes, 32), 2u);
  EXPECT_EQ(load<std::uint32_t>(bytes, 36), 1024u);
  EXPECT_EQ(load<std::uint64_t>(bytes, 40), reinterpret_cast<std::uintptr_t>(bytes.data()));
  EXPECT_EQ(load<std::uint64_t>(bytes, 96), 64u);
  EXPECT_EQ(load<std::uint32_t>(bytes, 112), 1u);  // on
}

TEST(GuestArea, RefusesADamagedHeader) {
  const GuestRings rings(1, 1024, RINGSIDE_OVERWRITE);
  std::vector<std::byte> header(rings.bytes().begin(), rings.bytes().begin() + 128);
  for (std::size_t at = 0; at < 112; ++at) {
    header[at] ^= std::byte{0x10};
    EXPECT_FALSE(read_guest_area(header)) << at;
    header[at] ^= std::byte{0x10};
  }
  EXPECT_TRUE(read_guest_area(header));
  EXPECT_FALSE(read_guest_area(Bytes(header).first(127)));
}

TEST(GuestLibrary, RefusesASetUpThatIsWrong) {
  EXPECT_EQ(ringside_bytes(1, 512), 0u);
  EXPECT_EQ(ringside_bytes(1, 1025), 0u);
  EXPECT_EQ(ringside_bytes(0, 1024), 0u);
  EXPECT_EQ(ringside_bytes(5000, 1024), 0u);
  alignas(64) static std::byte memory[16384];
  ringside_setup setup{};
  setup.memory = memory;
  setup.bytes = ringside_bytes(1, 1024) - 1;
  setup.cpus = 1;
  setup.ring_words = 1024;
  setup.clock = [] { return std::uint64_t{1}; };
  EXPECT_EQ(ringside_start(&setup), -1);
  setup.bytes += 1;
  setup.memory = memory + 8;
  EXPECT_EQ(ringside_start(&setup), -1);
  setup.memory = memory;
  setup.clock = nullptr;
  EXPECT_EQ(ringside_start(&setup), -1);
}

}  // namespace
}  // namespace ringside::wire
