// Page tables made by hand from the Intel SDM, volume 3A, chapter 4 (figures 4-4, 4-7, 4-11).

#include "memory/i386/page_walk.h"

#include <gtest/gtest.h>

#include "memory/testing/fake_physical_memory.h"
#include "memory/x86_64/page_walk.h"

namespace ringside::memory {
namespace {

using i386::ProtectedModeTables;
using testing::FakePhysicalMemory;
using x86_64::LongModeTables;

constexpr std::uint64_t kPresent = 1;
constexpr std::uint64_t kTable = 0x67;  // present, writable, user, accessed, dirty
constexpr std::uint64_t kLarge = 0xe7;  // the same and PS
constexpr std::uint64_t kNoExecute = std::uint64_t{1} << 63;

class LongMode : public ::testing::Test {
 protected:
  LongMode() {
    // 0xffffffff81234567: entries 511, 510, 9 and 0x34 of its four tables.
    ram_.put(GuestPhys{0x1000 + 511 * 8}, 0x2000 | kTable);
    ram_.put(GuestPhys{0x2000 + 510 * 8}, 0x3000 | kTable);
    ram_.put(GuestPhys{0x3000 + 9 * 8}, 0x4000 | kTable);
    ram_.put(GuestPhys{0x4000 + 0x34 * 8}, 0x000f'fedc'ba98'7000 | kTable | kNoExecute);
    // The 2 MiB at 0xffffffff81400000, with PAT (bit 12), which is no address bit.
    ram_.put(GuestPhys{0x3000 + 10 * 8}, 0x1'2340'0000 | 0x1000 | kLarge);
    // The 1 GiB at 0xffff888040000000: entries 273 and 1.
    ram_.put(GuestPhys{0x1000 + 273 * 8}, 0x5000 | kTable);
    ram_.put(GuestPhys{0x5000 + 1 * 8}, 0x8'4000'0000 | kLarge);
    // A table outside of RAM, for 0x8000000000.
    ram_.put(GuestPhys{0x1000 + 1 * 8}, 0x7777'0000 | kTable);
  }
  PageWalk walk(std::uint64_t address) {
    const auto walked = tables_.walk(ram_, GuestVirt{address});
    EXPECT_TRUE(walked);
    return walked.value_or(PageWalk{});
  }
  FakePhysicalMemory ram_{0x10000};
  LongModeTables tables_{0x1000 | 0x8000'0000'0000'0abc, false};  // with a PCID, and bit 63
};

TEST_F(LongMode, SmallPage) {
  const PageWalk page = walk(0xffffffff81234567);
  EXPECT_EQ(page.end, WalkEnd::kMapped);
  EXPECT_EQ(page.address.value, 0x000f'fedc'ba98'7567u);
  EXPECT_EQ(page.bytes, 0xa99u);
  EXPECT_EQ(page.level, 1);
  EXPECT_EQ(page.entry.value, 0x4000u + 0x34 * 8);
}

TEST_F(LongMode, LargePages) {
  const PageWalk two_mib = walk(0xffffffff81512345);
  EXPECT_EQ(two_mib.end, WalkEnd::kMapped);
  EXPECT_EQ(two_mib.address.value, 0x1'2351'2345u);
  EXPECT_EQ(two_mib.bytes, 0x200000u - 0x112345);
  EXPECT_EQ(two_mib.level, 2);
  const PageWalk one_gib = walk(0xffff88807fffffff);
  EXPECT_EQ(one_gib.address.value, 0x8'7fff'ffffu);
  EXPECT_EQ(one_gib.bytes, 1u);
  EXPECT_EQ(one_gib.level, 3);
}

TEST_F(LongMode, WhatIsNotPresentSaysWhere) {
  const PageWalk no_page = walk(0xffffffff81235000);
  EXPECT_EQ(no_page.end, WalkEnd::kNotPresent);
  EXPECT_EQ(no_page.level, 1);
  EXPECT_EQ(no_page.entry.value, 0x4000u + 0x35 * 8);
  EXPECT_EQ(no_page.bytes, 4096u);
  const PageWalk no_table = walk(0xffffffff80000000);
  EXPECT_EQ(no_table.level, 2);
  EXPECT_EQ(no_table.bytes, 0x200000u);
  EXPECT_EQ(walk(0x1000).level, 4);
  const PageWalk outside = walk(0x80'0000'0000);
  EXPECT_EQ(outside.end, WalkEnd::kUnreadable);
  EXPECT_EQ(outside.level, 3);
  EXPECT_EQ(outside.entry.value, 0x7777'0000u);
}

TEST_F(LongMode, NotCanonical) {
  for (const std::uint64_t address : {0x0000800000000000u, 0xffff7fffffffffffu}) {
    const PageWalk hole = walk(address);
    EXPECT_EQ(hole.end, WalkEnd::kNotCanonical);
    EXPECT_EQ(address + hole.bytes, 0xffff800000000000u);
  }
}

TEST_F(LongMode, FiveLevels) {
  ram_.put(GuestPhys{0x6000 + 511 * 8}, 0x1000 | kTable);  // 0xffffffff81234567
  ram_.put(GuestPhys{0x6000 + 0x111 * 8}, 0x7000 | kTable);
  ram_.put(GuestPhys{0x7000}, 0x5000 | kTable);  // 0xff11000040000000: the direct map
  const LongModeTables five(0x6000, true);
  EXPECT_EQ(five.walk(ram_, GuestVirt{0xffffffff81234567})->address.value, 0x000f'fedc'ba98'7567u);
  EXPECT_EQ(five.walk(ram_, GuestVirt{0xff11000040000123})->address.value, 0x8'4000'0123u);
  EXPECT_EQ(five.walk(ram_, GuestVirt{0x1000})->level, 5);
  EXPECT_EQ(five.walk(ram_, GuestVirt{0x0100000000000000})->end, WalkEnd::kNotCanonical);
}

TEST_F(LongMode, AFailingSourceIsAnError) {
  ram_.error = Error{ErrorCode::kClosed, "gone"};
  EXPECT_EQ(tables_.walk(ram_, GuestVirt{0x1000}).error().code, ErrorCode::kClosed);
}

TEST(LongModeTables, OfRegisters) {
  using namespace arch::x86_64;
  arch::Registers registers;
  registers.set(kCr0, 0x80050033);
  registers.set(kCr3, 0x2c0a002);
  registers.set(kEfer, 0xd01);
  EXPECT_FALSE(LongModeTables::of(registers));  // no CR4
  registers.set(kCr4, 0x3506f0);
  ASSERT_TRUE(LongModeTables::of(registers));
  EXPECT_EQ(LongModeTables::of(registers)->root().value, 0x2c0a000u);
  EXPECT_FALSE(LongModeTables::of(registers)->five_levels());
  registers.set(kCr4, 0x3516f0);
  EXPECT_TRUE(LongModeTables::of(registers)->five_levels());
  registers.set(kEfer, 0x800);
  EXPECT_FALSE(LongModeTables::of(registers));
}

TEST(ProtectedMode, ThirtyTwoBits) {
  FakePhysicalMemory ram(0x10000);
  ram.put<std::uint32_t>(GuestPhys{0x1000 + 0x304 * 4}, 0x2000 | kPresent);           // 0xc1000000
  ram.put<std::uint32_t>(GuestPhys{0x2000 + 0x23 * 4}, 0x89abc000 | kPresent);        // 0xc1023000
  ram.put<std::uint32_t>(GuestPhys{0x1000 + 0x305 * 4}, 0x00c00000 | 0xa000 | 0x81);  // PSE-36: 5
  const ProtectedModeTables tables(0x1018, 0x10);
  const auto small = tables.walk(ram, GuestVirt{0xc1023456});
  ASSERT_EQ(small->end, WalkEnd::kMapped);
  EXPECT_EQ(small->address.value, 0x89abc456u);
  const auto large = tables.walk(ram, GuestVirt{0xc1512345});
  ASSERT_EQ(large->end, WalkEnd::kMapped);
  EXPECT_EQ(large->address.value, 0x5'00d1'2345u);
  EXPECT_EQ(large->bytes, 0x400000u - 0x112345);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0x1'0000'0000})->end, WalkEnd::kNotCanonical);
  // Without PSE the bit has no meaning: the entry points to a table, here outside of RAM.
  const auto no_pse = ProtectedModeTables(0x1000, 0).walk(ram, GuestVirt{0xc1512345});
  EXPECT_EQ(no_pse->end, WalkEnd::kUnreadable);
  EXPECT_EQ(no_pse->entry.value, 0x00c0a000u + 0x112 * 4);
}

TEST(ProtectedMode, Pae) {
  FakePhysicalMemory ram(0x10000);
  ram.put<std::uint64_t>(GuestPhys{0x1020 + 3 * 8}, 0x2000 | kPresent);
  ram.put<std::uint64_t>(GuestPhys{0x2000 + 8 * 8}, 0x3000 | kTable);
  ram.put<std::uint64_t>(GuestPhys{0x3000 + 0x23 * 8}, 0x9'89ab'c000 | kTable | kNoExecute);
  ram.put<std::uint64_t>(GuestPhys{0x2000 + 10 * 8}, 0x9'0060'0000 | kLarge);
  const ProtectedModeTables tables(0x1020, 0x30);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0xc1023456})->address.value, 0x9'89ab'c456u);
  const auto large = tables.walk(ram, GuestVirt{0xc1412345});
  EXPECT_EQ(large->address.value, 0x9'0061'2345u);
  EXPECT_EQ(large->level, 2);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0x1000})->level, 3);
}

TEST(ProtectedMode, OfRegisters) {
  using namespace arch::i386;
  arch::Registers registers;
  registers.set(kCr0, 0x80050033);
  registers.set(kCr3, 0x1000);
  EXPECT_FALSE(ProtectedModeTables::of(registers));
  registers.set(kCr4, 0x10);
  EXPECT_TRUE(ProtectedModeTables::of(registers));
  registers.set(kCr0, 0x11);
  EXPECT_FALSE(ProtectedModeTables::of(registers));
}

}  // namespace
}  // namespace ringside::memory
