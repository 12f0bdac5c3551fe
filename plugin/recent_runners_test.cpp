#include "plugin/recent_runners.h"

#include <gtest/gtest.h>

#include <cstring>

namespace ringside::plugin {
namespace {

wire::Capture capture_of(std::uint64_t root, std::uint32_t process) {
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  capture.registers.set(arch::info_of(Arch::kX86_64).user_root.reg, root);
  capture.bytes.resize(12);
  std::memcpy(capture.bytes.data() + 4, &process, sizeof(process));
  capture.pieces.push_back({GuestVirt{0x1000}, wire::PieceKind::kSystem, 4, 0, 4, 1});
  capture.pieces.push_back({GuestVirt{}, wire::PieceKind::kValue, 8, 4, 8, wire::kRunnerTag});
  return capture;
}

TEST(RecentRunners, KnowsWhoRanBefore) {
  RecentRunners runners;
  EXPECT_TRUE(runners.is_new(capture_of(0x1000, 7)));
  EXPECT_FALSE(runners.is_new(capture_of(0x1000, 7)));
  EXPECT_TRUE(runners.is_new(capture_of(0x2000, 8)));
  EXPECT_FALSE(runners.is_new(capture_of(0x1000, 7)));
  EXPECT_FALSE(runners.is_new(capture_of(0x2000, 8)));
}

// As where a process is forked into memory that another one has just left; or executes a program.
TEST(RecentRunners, AnotherProcessOrAnotherAddressSpaceIsNew) {
  RecentRunners runners;
  EXPECT_TRUE(runners.is_new(capture_of(0x1000, 7)));
  EXPECT_TRUE(runners.is_new(capture_of(0x1000, 8)));
  EXPECT_TRUE(runners.is_new(capture_of(0x3000, 8)));
}

TEST(RecentRunners, WhatElseACaptureHasDoesNotCount) {
  RecentRunners runners;
  wire::Capture capture = capture_of(0x1000, 7);
  EXPECT_TRUE(runners.is_new(capture));
  capture.bytes[0] = std::byte{1};  // of the piece that the system copies
  capture.registers.set(arch::roles_of(capture.arch).pc, 0x401000);
  // Bits of CR3 that say which translations are cached.
  const std::uint8_t root = arch::info_of(capture.arch).user_root.reg;
  capture.registers.set(root, capture.registers.get(root) | 1);
  EXPECT_FALSE(runners.is_new(capture));
}

TEST(RecentRunners, NothingIsKnownOfASystemWithoutAny) {
  RecentRunners runners;
  wire::Capture capture;
  capture.arch = Arch::kX86_64;
  EXPECT_TRUE(runners.is_new(capture));
  EXPECT_FALSE(runners.is_new(capture));
}

TEST(RecentRunners, ManyTakeTurns) {
  RecentRunners runners;
  unsigned found = 0;
  for (int round = 0; round < 2; ++round)
    for (std::uint32_t n = 0; n < 64; ++n) found += runners.is_new(capture_of(0x1000 * n, n));
  EXPECT_GE(found, 64u);
  EXPECT_LT(found, 90u);  // some share a place
}

}  // namespace
}  // namespace ringside::plugin
