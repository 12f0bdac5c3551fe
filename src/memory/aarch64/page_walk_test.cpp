// Translation tables made by hand from the Arm Architecture Reference Manual for A-profile (DDI
// 0487), chapter D8: figures of the VMSAv8-64 descriptors, and TCR_EL1 and TTBR1_EL1 in D19.2.

#include "memory/aarch64/page_walk.h"

#include <gtest/gtest.h>

#include "memory/testing/fake_physical_memory.h"

namespace ringside::memory::aarch64 {
namespace {

using testing::FakePhysicalMemory;

constexpr std::uint64_t kTable = 3;
constexpr std::uint64_t kPage = 0x0078'0000'0000'0703;   // PXN, UXN, contiguous, AF, SH, page
constexpr std::uint64_t kBlock = 0x0078'0000'0000'0701;  // the same, but a block

// TCR_EL1 by its fields.
constexpr std::uint64_t t0sz(std::uint64_t n) { return n; }
constexpr std::uint64_t t1sz(std::uint64_t n) { return n << 16; }
constexpr std::uint64_t tg0(std::uint64_t n) { return n << 14; }  // 0: 4, 1: 64, 2: 16 KiB
constexpr std::uint64_t tg1(std::uint64_t n) { return n << 30; }  // 1: 16, 2: 4, 3: 64 KiB
constexpr std::uint64_t ips(std::uint64_t n) { return n << 32; }
constexpr std::uint64_t kTbi0 = std::uint64_t{1} << 37;
constexpr std::uint64_t kTbi1 = std::uint64_t{1} << 38;
constexpr std::uint64_t kEpd0 = 1u << 7;
constexpr std::uint64_t kDs = std::uint64_t{1} << 59;

void expect_page(const StageOneTables& tables, PhysicalMemory& ram, std::uint64_t address,
                 std::uint64_t physical, std::uint64_t bytes, int level) {
  const auto walk = tables.walk(ram, GuestVirt{address});
  ASSERT_TRUE(walk);
  EXPECT_EQ(walk->end, WalkEnd::kMapped) << std::hex << address;
  EXPECT_EQ(walk->address.value, physical) << std::hex << address;
  EXPECT_EQ(walk->bytes, bytes) << std::hex << address;
  EXPECT_EQ(walk->level, level) << std::hex << address;
}

// 48-bit addresses with 4 KiB pages: Debian's kernel.
class FourKib : public ::testing::Test {
 protected:
  FourKib() {
    // 0xffff800008123456: entries 0x100, 0, 0x40 and 0x123.
    ram_.put(GuestPhys{0x1000 + 0x100 * 8}, 0x2000 | kTable);
    ram_.put(GuestPhys{0x2000}, 0x3000 | kTable);
    ram_.put(GuestPhys{0x3000 + 0x40 * 8}, 0x4000 | kTable);
    ram_.put(GuestPhys{0x4000 + 0x123 * 8}, 0xfedc'ba98'7000 | kPage);
    ram_.put(GuestPhys{0x4000 + 0x124 * 8}, 0x1234'5000 | kBlock);  // reserved at the last level
    ram_.put(GuestPhys{0x3000 + 0x41 * 8}, 0x1'4020'0000 | kBlock);
    ram_.put(GuestPhys{0x2000 + 1 * 8}, 0x8'4000'0000 | kBlock);
    ram_.put(GuestPhys{0x1000 + 0x101 * 8}, 0x80'0000'0000 | kBlock);  // needs FEAT_LPA2
    // 0x401234 of the other half: entries 0, 0, 2 and 1.
    ram_.put(GuestPhys{0x5000}, 0x6000 | kTable);
    ram_.put(GuestPhys{0x6000}, 0x7000 | kTable);
    ram_.put(GuestPhys{0x7000 + 2 * 8}, 0x8000 | kTable);
    ram_.put(GuestPhys{0x8000 + 1 * 8}, 0x5555'6000 | kPage);
    ram_.put(GuestPhys{0x5000 + 1 * 8}, 0x7777'0000 | kTable);  // not in RAM
  }
  WalkEnd end_of(std::uint64_t address) { return tables_.walk(ram_, GuestVirt{address})->end; }
  // An ASID and CnP beside the roots; TBI0 as Linux has it.
  StageOneTables::Roots roots_{0x0123'0000'0000'5000, 0x0abc'0000'0000'1001,
                               t0sz(16) | t1sz(16) | tg0(0) | tg1(2) | ips(5) | kTbi0};
  FakePhysicalMemory ram_{0x9000};
  StageOneTables tables_{roots_};
};

TEST_F(FourKib, Pages) {
  expect_page(tables_, ram_, 0xffff800008123456, 0xfedc'ba98'7456, 0xbaa, 1);
  expect_page(tables_, ram_, 0x401234, 0x5555'6234, 0xdcc, 1);
}

TEST_F(FourKib, Blocks) {
  expect_page(tables_, ram_, 0xffff800008212345, 0x1'4021'2345, 0x200000 - 0x12345, 2);
  expect_page(tables_, ram_, 0xffff80007fffffff, 0x8'7fff'ffff, 1, 3);
  EXPECT_EQ(end_of(0xffff808000000000), WalkEnd::kNotPresent);
  EXPECT_EQ(end_of(0xffff800008124000), WalkEnd::kNotPresent);
}

TEST_F(FourKib, WhatIsNotMappedSaysWhere) {
  const auto walk = tables_.walk(ram_, GuestVirt{0xffff800008122008});
  EXPECT_EQ(walk->end, WalkEnd::kNotPresent);
  EXPECT_EQ(walk->entry.value, 0x4000u + 0x122 * 8);
  EXPECT_EQ(walk->bytes, 0xff8u);
  const auto outside = tables_.walk(ram_, GuestVirt{0x8000000000});
  EXPECT_EQ(outside->end, WalkEnd::kUnreadable);
  EXPECT_EQ(outside->level, 3);
  ram_.error = Error{ErrorCode::kClosed, "gone"};
  EXPECT_EQ(tables_.walk(ram_, GuestVirt{0x1000}).error().code, ErrorCode::kClosed);
}

TEST_F(FourKib, TheTopByte) {
  expect_page(tables_, ram_, 0xab00000000401234, 0x5555'6234, 0xdcc, 1);  // TBI0
  EXPECT_EQ(end_of(0xab7f800008123456), WalkEnd::kNotCanonical);
  EXPECT_EQ(end_of(0xabff800008123456), WalkEnd::kNotCanonical);
  roots_.tcr |= kTbi1;
  expect_page(StageOneTables(roots_), ram_, 0xabff800008123456, 0xfedc'ba98'7456, 0xbaa, 1);
  EXPECT_EQ(end_of(0x0001000000401234), WalkEnd::kNotCanonical);
  roots_.tcr &= ~kTbi0;
  EXPECT_EQ(StageOneTables(roots_).walk(ram_, GuestVirt{0xab00000000401234})->end,
            WalkEnd::kNotCanonical);
}

TEST_F(FourKib, TheHoleEndsWhereTheUpperHalfBegins) {
  for (const std::uint64_t address : {0x0001000000000000u, 0xfffeffffffffffffu}) {
    const auto hole = tables_.walk(ram_, GuestVirt{address});
    EXPECT_EQ(hole->end, WalkEnd::kNotCanonical);
    EXPECT_EQ(address + hole->bytes, 0xffff000000000000u);
  }
}

TEST_F(FourKib, WalksMayBeForbidden) {
  roots_.tcr |= kEpd0;
  const StageOneTables tables(roots_);
  EXPECT_EQ(tables.walk(ram_, GuestVirt{0x401234})->end, WalkEnd::kNotPresent);
  EXPECT_EQ(tables.walk(ram_, GuestVirt{0xffff800008123456})->end, WalkEnd::kMapped);
}

TEST_F(FourKib, UnknownSizesMapNothing) {
  for (const std::uint64_t tcr : {t1sz(15) | tg1(2), t1sz(49) | tg1(2), t1sz(16) | tg1(0),
                                  t1sz(0) | tg1(3), t1sz(48) | tg1(3)}) {
    roots_.tcr = tcr;
    EXPECT_EQ(StageOneTables(roots_).walk(ram_, GuestVirt{0xffffffffffffff00})->end,
              WalkEnd::kUnreadable)
        << std::hex << tcr;
  }
}

TEST_F(FourKib, WithoutTheMmuNothingIsTranslated) {
  roots_.translates = false;
  expect_page(StageOneTables(roots_), ram_, 0x40201234, 0x40201234, 0xdcc, 0);
}

// Three levels, of which the first has 64 entries: 512 bytes, and aligned to no more than that.
TEST(StageOne, ASmallRoot) {
  FakePhysicalMemory ram(0x4000);
  // 0xf89abcdef: entries 0x3e, 0x4d and 0xbc.
  ram.put(GuestPhys{0x1200 + 0x3e * 8}, 0x2000 | kTable);
  ram.put(GuestPhys{0x2000 + 0x4d * 8}, 0x3000 | kTable);
  ram.put(GuestPhys{0x3000 + 0xbc * 8}, 0x9'8765'4000 | kPage);
  const StageOneTables tables({0x1201, 0, t0sz(28) | t1sz(28) | tg1(2)});
  expect_page(tables, ram, 0xf89abcdef, 0x9'8765'4def, 0x211, 1);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0x1000000000})->end, WalkEnd::kNotCanonical);
}

TEST(StageOne, SixteenKib) {
  FakePhysicalMemory ram(0x14000);
  // 0xffff8123456789ab of 47 bits: entries 0x12, 0x1a2 and 0x59e, offset 0x9ab.
  ram.put(GuestPhys{0x4000 + 0x12 * 8}, 0x8000 | kTable);
  ram.put(GuestPhys{0x8000 + 0x1a2 * 8}, 0xc000 | kTable);
  ram.put(GuestPhys{0xc000 + 0x59e * 8}, 0xfedc'ba98'4000 | kPage);
  ram.put(GuestPhys{0x8000 + 0x1a3 * 8}, 0x1'4200'0000 | kBlock);
  ram.put(GuestPhys{0x4000 + 0x13 * 8}, 0x10'0000'0000 | kBlock);  // needs FEAT_LPA2
  const StageOneTables tables({0, 0x4000, t1sz(17) | tg1(1) | ips(5)});
  expect_page(tables, ram, 0xffff8123456789ab, 0xfedc'ba98'49ab, 0x4000 - 0x9ab, 1);
  expect_page(tables, ram, 0xffff812346123456, 0x1'4212'3456, 0x2000000 - 0x123456, 2);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0xffff813000000000})->end, WalkEnd::kNotPresent);
  // Addresses of 48 bits have a root of two entries above the same tables.
  ram.put(GuestPhys{0x10018}, 0x4000 | kTable);
  const StageOneTables four({0, 0x10010, t1sz(16) | tg1(1)});
  expect_page(four, ram, 0xffff8123456789ab, 0xfedc'ba98'49ab, 0x4000 - 0x9ab, 1);
}

TEST(StageOne, SixtyFourKib) {
  FakePhysicalMemory ram(0x40000);
  // 0xffff923456789abc of 48 bits: entries 0x24, 0x11a2 and 0x1678, offset 0x9abc.
  ram.put(GuestPhys{0x10200 + 0x24 * 8}, 0x20000 | kTable);
  ram.put(GuestPhys{0x20000 + 0x11a2 * 8}, 0x30000 | kTable);
  ram.put(GuestPhys{0x30000 + 0x1678 * 8}, 0xfedc'ba98'0000 | kPage);
  ram.put(GuestPhys{0x20000 + 0x11a3 * 8}, 0x1'4000'0000 | kBlock);
  const StageOneTables tables({0, 0x10200, t1sz(16) | tg1(3) | ips(5)});
  expect_page(tables, ram, 0xffff923456789abc, 0xfedc'ba98'9abc, 0x6544, 1);
  expect_page(tables, ram, 0xffff923460123456, 0x1'4012'3456, 0x20000000 - 0x123456, 2);
}

// FEAT_LVA and FEAT_LPA: the tables themselves lie above 48 bits.
TEST(StageOne, SixtyFourKibOf52Bits) {
  constexpr std::uint64_t kBase = 0xf'0000'0001'0000;
  FakePhysicalMemory ram(0x30000, GuestPhys{kBase});
  // 0xfff123456789abcd: entries 0x48, 0x1a2b and 0x789, offset 0xabcd.
  ram.put(GuestPhys{kBase + 0x48 * 8}, std::uint64_t{0x2'f003});
  ram.put(GuestPhys{kBase + 0x1'0000 + 0x1a2b * 8}, std::uint64_t{0x3'f003});
  ram.put(GuestPhys{kBase + 0x2'0000 + 0x789 * 8}, std::uint64_t{0x0078'bcde'f012'a703});
  ram.put(GuestPhys{kBase + 0x49 * 8}, std::uint64_t{0x0078'0400'0000'1701});  // 4 TiB
  const StageOneTables tables({0, 0x1'003c, t1sz(12) | tg1(3) | ips(6)});
  expect_page(tables, ram, 0xfff123456789abcd, 0xa'bcde'f012'abcd, 0x5433, 1);
  expect_page(tables, ram, 0xfff1240000000123, 0x1'0400'0000'0123, 0x400'0000'0000 - 0x123, 3);
}

TEST(StageOne, FourKibOf52Bits) {
  constexpr std::uint64_t kBase = 0xf'0000'0000'1000;
  FakePhysicalMemory ram(0x6000, GuestPhys{kBase});
  // 0xfff123456789abcd: entries 1, 0x46, 0x115, 0x13c and 0x9a. Bits 51:50 of an address are in
  // 9:8, where Debian's kernel has the shareability, and 49:48 in place.
  const auto table = [](std::uint64_t low) { return 0x3'0000'0000'0000 | low | 0x300 | kTable; };
  ram.put(GuestPhys{kBase + 1 * 8}, table(0x2000));
  ram.put(GuestPhys{kBase + 0x1000 + 0x46 * 8}, table(0x3000));
  ram.put(GuestPhys{kBase + 0x2000 + 0x115 * 8}, table(0x4000));
  ram.put(GuestPhys{kBase + 0x3000 + 0x13c * 8}, table(0x5000));
  ram.put(GuestPhys{kBase + 0x4000 + 0x9a * 8}, std::uint64_t{0x0042'bcde'f012'3603});
  ram.put(GuestPhys{kBase + 0x1000 + 0x47 * 8}, std::uint64_t{0x0040'0080'0000'0501});  // 512 GiB
  const StageOneTables tables({0, 0x103c, t1sz(12) | tg1(2) | ips(6) | kDs});
  expect_page(tables, ram, 0xfff123456789abcd, 0xa'bcde'f012'3bcd, 0x433, 1);
  expect_page(tables, ram, 0xfff1238000000123, 0x4'0080'0000'0123, 0x80'0000'0000 - 0x123, 4);
}

TEST(StageOne, SixteenKibOf52Bits) {
  FakePhysicalMemory ram(0x14000);
  // 0xfff123456789abcd: entries 2, 0x234, 0x2b3 and 0x626, offset 0x2bcd.
  ram.put(GuestPhys{0x4000 + 2 * 8}, 0x8000 | kTable);
  ram.put(GuestPhys{0x8000 + 0x234 * 8}, 0xc000 | kTable);
  ram.put(GuestPhys{0xc000 + 0x2b3 * 8}, 0x10000 | kTable);
  ram.put(GuestPhys{0x10000 + 0x626 * 8}, 0x1'2345'6789'4000 | std::uint64_t{3});
  ram.put(GuestPhys{0x8000 + 0x235 * 8}, 0x10'0000'0000 | std::uint64_t{1});  // 64 GiB
  const StageOneTables tables({0, 0x4000, t1sz(12) | tg1(1) | ips(6) | kDs});
  expect_page(tables, ram, 0xfff123456789abcd, 0x1'2345'6789'6bcd, 0x4000 - 0x2bcd, 1);
  expect_page(tables, ram, 0xfff1235000000123, 0x10'0000'0123, 0x10'0000'0000 - 0x123, 3);
}

TEST(StageOne, OfRegisters) {
  using namespace arch::aarch64;
  arch::Registers registers;
  registers.set(kCpsr, 0x3c5);  // EL1h
  registers.set(kTtbr0El1, 0x5000);
  registers.set(kTcrEl1, t0sz(16) | t1sz(16) | tg1(2));
  EXPECT_FALSE(StageOneTables::of(registers));  // no TTBR1_EL1
  registers.set(kTtbr1El1, 0x1000);
  ASSERT_TRUE(StageOneTables::of(registers));
  EXPECT_EQ(StageOneTables::of(registers)->roots().ttbr1, 0x1000u);
  registers.set(kSctlrEl1, 0x30d00800);
  EXPECT_FALSE(StageOneTables::of(registers)->roots().translates);
  registers.set(kSctlrEl1, 0x30d00801);
  EXPECT_TRUE(StageOneTables::of(registers)->roots().translates);
  for (const std::uint64_t mode : {0x0u, 0x4u, 0x10u}) {  // EL0, EL1t, AArch32's user mode
    registers.set(kCpsr, 0x60000000 | mode);
    EXPECT_TRUE(StageOneTables::of(registers)) << mode;
  }
  for (const std::uint64_t mode : {0x9u, 0xdu, 0x13u}) {  // EL2h, EL3h, AArch32's supervisor
    registers.set(kCpsr, mode);
    EXPECT_FALSE(StageOneTables::of(registers)) << mode;
  }
}

TEST(UpperGranule, OfTg1) {
  EXPECT_EQ(upper_granule(tg1(2)), 4096u);
  EXPECT_EQ(upper_granule(tg1(1)), 16384u);
  EXPECT_EQ(upper_granule(tg1(3)), 65536u);
  EXPECT_EQ(upper_granule(0), 0u);
}

}  // namespace
}  // namespace ringside::memory::aarch64
