#include "memory/address_space.h"

#include <gtest/gtest.h>

#include "memory/testing/fake_physical_memory.h"
#include "memory/x86_64/page_walk.h"

namespace ringside::memory {
namespace {

using testing::FakePhysicalMemory;

// Pages 0 to 4 of the address space: physical pages 8, 9 and 15 (the last), nothing, and one that
// is not in RAM.
class Space : public ::testing::Test {
 protected:
  Space() {
    ram_.put<std::uint64_t>(GuestPhys{0x1000}, 0x2001);
    ram_.put<std::uint64_t>(GuestPhys{0x2000}, 0x3001);
    ram_.put<std::uint64_t>(GuestPhys{0x3000}, 0x4001);
    const std::uint64_t pages[] = {0x8001, 0x9001, 0xf001, 0, 0x10001};
    for (std::uint64_t i = 0; i < 5; ++i) ram_.put(GuestPhys{0x4000 + 8 * i}, pages[i]);
    for (std::uint64_t at = 0x8000; at < 0x10000; at += 8) ram_.put(GuestPhys{at}, at);
  }
  FakePhysicalMemory ram_{0x10000};
  x86_64::LongModeTables tables_{0x1000, false};
  AddressSpace space_{tables_, ram_};
};

TEST_F(Space, ReadsAcrossPages) {
  std::vector<std::byte> bytes(0x2000);
  ASSERT_TRUE(space_.read(GuestVirt{0x800}, bytes));
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + 0x1800 - 8, 8);
  EXPECT_EQ(value, 0x9ff8u);
  std::memcpy(&value, bytes.data() + 0x1800, 8);
  EXPECT_EQ(value, 0xf000u);
  EXPECT_EQ(*space_.read_value<std::uint32_t>(GuestVirt{0x1008}), 0x9008u);
}

TEST_F(Space, ReadsUpToWhatIsNotMapped) {
  std::vector<std::byte> bytes(0x10000);
  EXPECT_EQ(*space_.read_up_to(GuestVirt{0x10}, bytes), 0x3000u - 0x10);
  EXPECT_EQ(*space_.read_up_to(GuestVirt{0x3000}, bytes), 0u);
  EXPECT_EQ(*space_.read_up_to(GuestVirt{0x4000}, bytes), 0u);
  const auto whole = space_.read(GuestVirt{0x2ff0}, std::span(bytes).first(0x20));
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().code, ErrorCode::kUnreadable);
  EXPECT_NE(whole.error().message.find("0x3000"), std::string::npos);
}

TEST_F(Space, TablesAreReadOnce) {
  std::vector<std::byte> bytes(0x2000);
  ASSERT_TRUE(space_.read(GuestVirt{0}, bytes));
  const std::size_t before = ram_.reads;
  ASSERT_TRUE(space_.read(GuestVirt{0}, bytes));  // two pages side by side
  EXPECT_EQ(ram_.reads, before + 1);
  ram_.put<std::uint64_t>(GuestPhys{0x4000}, 0);
  EXPECT_EQ(*space_.read_up_to(GuestVirt{0}, bytes), 0x2000u);
  space_.forget_tables();
  EXPECT_EQ(*space_.read_up_to(GuestVirt{0}, bytes), 0u);
}

TEST_F(Space, TheMapOfAllRamIsWalkedToOnce) {
  ram_.put(GuestPhys{0x4000 + 8 * 3}, std::uint64_t{0x3001});
  space_.set_linear_distance(0);
  EXPECT_EQ(space_.read_value<std::uint64_t>(GuestVirt{0x8000}).error().code,
            ErrorCode::kUnreadable);
  EXPECT_EQ(space_.walk(GuestVirt{0x3010})->address, GuestPhys{0x3010});
  ram_.put(GuestPhys{0x1000}, std::uint64_t{0});
  space_.forget_tables();
  const std::size_t before = ram_.reads;
  EXPECT_EQ(*space_.read_value<std::uint64_t>(GuestVirt{0x8008}), 0x8008u);
  EXPECT_EQ(ram_.reads, before + 1);
  EXPECT_EQ(space_.walk(GuestVirt{0x8008})->bytes, (2u << 20) - 0x8008);
  EXPECT_EQ(space_.walk(GuestVirt{2u << 20})->end, WalkEnd::kNotPresent);
}

TEST_F(Space, AFailingSourceIsAnError) {
  std::vector<std::byte> bytes(16);
  ram_.error = Error{ErrorCode::kClosed, "gone"};
  EXPECT_EQ(space_.read_up_to(GuestVirt{0}, bytes).error().code, ErrorCode::kClosed);
}

TEST(PageCache, EndsWhereItsSourceEnds) {
  FakePhysicalMemory ram(0x1800);
  ram.bytes[0x17ff] = std::byte{7};
  PageCache<GuestPhys> cache(ram, 1);
  std::vector<std::byte> bytes(0x2000);
  EXPECT_EQ(*cache.read_up_to(GuestPhys{0x10}, bytes), 0x17f0u);
  EXPECT_EQ(bytes[0x17ef], std::byte{7});
  EXPECT_EQ(*cache.read_up_to(GuestPhys{0x1800}, bytes), 0u);
}

}  // namespace
}  // namespace ringside::memory
