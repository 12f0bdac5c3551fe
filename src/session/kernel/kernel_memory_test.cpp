// Page tables made by hand, as Linux lays them out.

#include "session/kernel/kernel_memory.h"

#include <gtest/gtest.h>

#include "base/little_endian.h"
#include "engines/testing/fake_engine.h"
#include "memory/testing/fake_physical_memory.h"
#include "session/testing/arm64_guest.h"

namespace ringside::session {
namespace {

using engines::testing::FakeEngine;
using memory::testing::FakePhysicalMemory;

std::optional<std::uint64_t> read(KernelMemory& memory, std::uint64_t address) {
  std::array<std::byte, 8> bytes{};
  if (memory.read_up_to(GuestVirt{address}, bytes) != bytes.size()) return std::nullopt;
  const auto value = load<std::uint64_t>(bytes);
  return value;
}

class Arm64 : public testing::Arm64Guest, public ::testing::Test {};

TEST_F(Arm64, TheKernelsOwnRootIsFoundFromTheTrampolines) {
  KernelMemory memory(engine_, capture_);
  EXPECT_EQ(read(memory, kText), 0x7e47u);
  EXPECT_EQ(engine_.register_reads, 1u);
}

TEST_F(Arm64, AlsoWhereTheTrampolineRan) {
  capture_.registers.set(arch::aarch64::kPc, kTrampoline + 0x400);
  KernelMemory memory(engine_, capture_);
  EXPECT_EQ(read(memory, kText), 0x7e47u);
}

TEST_F(Arm64, FromTheReservedRootAndFromItself) {
  for (const std::uint64_t root : {0x2000u, 0x3000u}) {
    engine_.registers.set(arch::aarch64::kTtbr1El1, 0x0042'0000'0000'0000 | root | 1);
    KernelMemory memory(engine_, capture_);
    EXPECT_EQ(read(memory, kText), 0x7e47u);
  }
}

// The engine's own reads then, which the fake does not have.
TEST_F(Arm64, ARootThatDoesNotMapTheKernelIsNotTaken) {
  engine_.registers.set(arch::aarch64::kTtbr1El1, 0x4000);
  KernelMemory memory(engine_, capture_);
  EXPECT_EQ(read(memory, kText), std::nullopt);
}

TEST(KernelMemory, Riscv64WalksTheCapturesTables) {
  FakePhysicalMemory ram(0x5000);
  // 0xffffffff80201000 by Sv39: entries 0x1fe, 1 and 1.
  ram.put(GuestPhys{0x1000 + 0x1fe * 8}, std::uint64_t{0x2000 >> 2 | 1});
  ram.put(GuestPhys{0x2000 + 8}, std::uint64_t{0x3000 >> 2 | 1});
  ram.put(GuestPhys{0x3000 + 8}, std::uint64_t{0x4000 >> 2 | 0xcf});
  ram.put(GuestPhys{0x4000}, std::uint64_t{0x7e47});
  FakeEngine engine(1);
  engine.physical = &ram;
  wire::Capture capture;
  capture.arch = Arch::kRiscv64;
  capture.registers.set(arch::riscv64::kPriv, 1);
  capture.registers.set(arch::riscv64::kSatp, std::uint64_t{8} << 60 | 1);
  KernelMemory memory(engine, capture);
  EXPECT_EQ(read(memory, 0xffffffff80201000), 0x7e47u);
  EXPECT_EQ(engine.register_reads, 0u);
}

TEST(KernelMemory, I386WalksTheCapturesTables) {
  FakePhysicalMemory ram(0x4000);
  ram.put(GuestPhys{0x1000 + 0x301 * 4}, std::uint32_t{0x2001});  // 0xc0401000
  ram.put(GuestPhys{0x2000 + 4}, std::uint32_t{0x3001});
  ram.put(GuestPhys{0x3000}, std::uint64_t{0x7e47});
  FakeEngine engine(1);
  engine.physical = &ram;
  wire::Capture capture;
  capture.arch = Arch::kI386;
  capture.registers.set(arch::i386::kCr0, 0x80000001);
  capture.registers.set(arch::i386::kCr3, 0x1000);
  capture.registers.set(arch::i386::kCr4, 0);
  KernelMemory memory(engine, capture);
  EXPECT_EQ(read(memory, 0xc0401000), 0x7e47u);
}

}  // namespace
}  // namespace ringside::session
