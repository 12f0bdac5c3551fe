// Page tables made by hand from The RISC-V Instruction Set Manual, volume II, sections on Sv39,
// Sv48, Sv57 and Svnapot.

#include "memory/riscv64/page_walk.h"

#include <gtest/gtest.h>

#include "memory/testing/fake_physical_memory.h"

namespace ringside::memory::riscv64 {
namespace {

using testing::FakePhysicalMemory;

constexpr std::uint64_t kTable = 0x01;
constexpr std::uint64_t kData = 0xc7;  // V R W A D
constexpr std::uint64_t kCode = 0x49;  // V X A

// The frame number begins at bit 10.
constexpr std::uint64_t to(std::uint64_t physical) { return physical >> 2; }

SupervisorTables tables_of(std::uint64_t satp, std::uint64_t priv = 1) {
  arch::Registers registers;
  registers.set(arch::riscv64::kSatp, satp);
  registers.set(arch::riscv64::kPriv, priv);
  return SupervisorTables::of(registers).value();
}

constexpr std::uint64_t kSv39 = std::uint64_t{8} << 60;
constexpr std::uint64_t kSv48 = std::uint64_t{9} << 60;
constexpr std::uint64_t kSv57 = std::uint64_t{10} << 60;
constexpr std::uint64_t kAsid = std::uint64_t{0x1234} << 44;

class Sv39 : public ::testing::Test {
 protected:
  Sv39() {
    // 0xffffffff80201234: entries 0x1fe, 1 and 1.
    ram_.put(GuestPhys{0x1000 + 0x1fe * 8}, to(0x2000) | kTable);
    ram_.put(GuestPhys{0x2000 + 1 * 8}, to(0x3000) | kTable);
    ram_.put(GuestPhys{0x3000 + 1 * 8}, to(0x00fe'dcba'9876'5000) | kCode);
    ram_.put(GuestPhys{0x3000 + 2 * 8}, to(0x4000) | kTable);  // a table at the last level
    ram_.put(GuestPhys{0x3000 + 3 * 8}, to(0x4000) | 0x05);    // W without R: reserved
    ram_.put(GuestPhys{0x2000 + 2 * 8}, to(0x1'4020'0000) | kData);
    ram_.put(GuestPhys{0x2000 + 3 * 8}, to(0x1'4020'1000) | kData);  // misaligned
    ram_.put(GuestPhys{0x1000 + 0x1ff * 8}, to(0x8'4000'0000) | kData);
    ram_.put(GuestPhys{0x1000}, to(0x7777'0000) | kTable);
  }
  PageWalk walk(std::uint64_t address) { return tables_.walk(ram_, GuestVirt{address}).value(); }
  FakePhysicalMemory ram_{0x8000};
  SupervisorTables tables_ = tables_of(kSv39 | kAsid | 1);
};

TEST_F(Sv39, Pages) {
  const PageWalk page = walk(0xffffffff80201234);
  EXPECT_EQ(page.end, WalkEnd::kMapped);
  EXPECT_EQ(page.address.value, 0x00fe'dcba'9876'5234u);
  EXPECT_EQ(page.bytes, 0xdccu);
  EXPECT_EQ(page.level, 1);
  const PageWalk two_mib = walk(0xffffffff80412345);
  EXPECT_EQ(two_mib.address.value, 0x1'4021'2345u);
  EXPECT_EQ(two_mib.bytes, 0x200000u - 0x12345);
  EXPECT_EQ(two_mib.level, 2);
  const PageWalk one_gib = walk(0xffffffffffffffff);
  EXPECT_EQ(one_gib.address.value, 0x8'7fff'ffffu);
  EXPECT_EQ(one_gib.bytes, 1u);
}

TEST_F(Sv39, WhatIsNotMapped) {
  EXPECT_EQ(walk(0xffffffff80200000).end, WalkEnd::kNotPresent);
  EXPECT_EQ(walk(0xffffffff80202000).end, WalkEnd::kNotPresent);
  EXPECT_EQ(walk(0xffffffff80203000).end, WalkEnd::kNotPresent);
  EXPECT_EQ(walk(0xffffffff80600000).end, WalkEnd::kNotPresent);
  EXPECT_EQ(walk(0xffffffff80600000).bytes, 0x200000u);
  EXPECT_EQ(walk(0x1000).end, WalkEnd::kUnreadable);
  EXPECT_EQ(walk(0x1000).level, 2);
  for (const std::uint64_t address : {0x0000004000000000u, 0xffffffbfffffffffu}) {
    EXPECT_EQ(walk(address).end, WalkEnd::kNotCanonical);
    EXPECT_EQ(address + walk(address).bytes, 0xffffffc000000000u);
  }
}

// N (bit 63) and a frame number that ends in 1000: 64 KiB. Svpbmt's bits 62:61 are no address.
TEST_F(Sv39, Svnapot) {
  constexpr std::uint64_t kNapot = std::uint64_t{1} << 63;
  constexpr std::uint64_t kUncached = std::uint64_t{1} << 61;
  ram_.put(GuestPhys{0x3000 + 0x1b * 8}, to(0x9'8765'8000) | kData | kNapot | kUncached);
  EXPECT_EQ(walk(0xffffffff8021b456).address.value, 0x9'8765'b456u);
  ram_.put(GuestPhys{0x3000 + 0x1c * 8}, to(0x9'8765'c000) | kData | kNapot);
  EXPECT_EQ(walk(0xffffffff8021c456).end, WalkEnd::kNotPresent);
}

TEST(Sv48, FourLevels) {
  FakePhysicalMemory ram(0x8000);
  // 0xffffffff80201234: entries 0x1ff, 0x1fe, 1 and 1.
  ram.put(GuestPhys{0x5000 + 0x1ff * 8}, to(0x1000) | kTable);
  ram.put(GuestPhys{0x1000 + 0x1fe * 8}, to(0x2000) | kTable);
  ram.put(GuestPhys{0x2000 + 1 * 8}, to(0x3000) | kTable);
  ram.put(GuestPhys{0x3000 + 1 * 8}, to(0x8765'4000) | kCode);
  ram.put(GuestPhys{0x5000 + 0x1fd * 8}, to(0x80'0000'0000) | kData);  // 512 GiB
  const SupervisorTables tables = tables_of(kSv48 | 5, 0);
  EXPECT_EQ(tables.levels(), 4u);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0xffffffff80201234})->address.value, 0x8765'4234u);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0xfffffe8012345678})->address.value, 0x80'1234'5678u);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0xffff7fffffffffff})->end, WalkEnd::kNotCanonical);
}

TEST(Sv57, FiveLevels) {
  FakePhysicalMemory ram(0x8000);
  // 0xff61000000201234: entries 0x161, 0, 0, 1 and 1.
  ram.put(GuestPhys{0x6000 + 0x161 * 8}, to(0x5000) | kTable);
  ram.put(GuestPhys{0x5000}, to(0x1000) | kTable);
  ram.put(GuestPhys{0x1000}, to(0x2000) | kTable);
  ram.put(GuestPhys{0x2000 + 1 * 8}, to(0x3000) | kTable);
  ram.put(GuestPhys{0x3000 + 1 * 8}, to(0x8765'4000) | kData);
  const SupervisorTables tables = tables_of(kSv57 | 6);
  EXPECT_EQ(tables.levels(), 5u);
  EXPECT_EQ(tables.root().value, 0x6000u);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0xff61000000201234})->address.value, 0x8765'4234u);
  EXPECT_EQ(tables.walk(ram, GuestVirt{0xfe61000000201234})->end, WalkEnd::kNotCanonical);
}

TEST(SupervisorTables, OfRegisters) {
  using namespace arch::riscv64;
  FakePhysicalMemory ram(0x1000);
  arch::Registers registers;
  registers.set(kSatp, kSv39 | 1);
  EXPECT_FALSE(SupervisorTables::of(registers));  // no priv
  registers.set(kPriv, 3);
  const auto machine = SupervisorTables::of(registers);
  ASSERT_TRUE(machine);
  EXPECT_EQ(machine->levels(), 0u);
  EXPECT_EQ(machine->walk(ram, GuestVirt{0x80200123})->address.value, 0x80200123u);
  registers.set(kPriv, 1);
  EXPECT_EQ(SupervisorTables::of(registers)->levels(), 3u);
  registers.set(kSatp, 0);  // Bare
  EXPECT_EQ(SupervisorTables::of(registers)->walk(ram, GuestVirt{0x1ff8})->bytes, 8u);
  for (const std::uint64_t mode : {1u, 7u, 11u, 15u}) {
    registers.set(kSatp, mode << 60);
    EXPECT_FALSE(SupervisorTables::of(registers)) << mode;
  }
}

}  // namespace
}  // namespace ringside::memory::riscv64
