#include "wire/guest_capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "arch/arch_info.h"
#include "wire/walked_frames.h"

namespace ringside::wire {
namespace {

constexpr std::array<std::uint64_t, 3> kKernel = {0xffffffff81000010, 0xffffffff81000020,
                                                  0xffffffff81000030};
constexpr std::array<std::uint64_t, 2> kUser = {0x401000, 0x402000};

TEST(GuestCapture, HasBothStacksAndTheWordsAtTheStackPointer) {
  // At the pc, and at the frame that an interrupt's handler has interrupted.
  const std::array<std::uint64_t, 9> interruptions = {
      std::uint64_t{2} << 32,     0x8000, 0x8100, 11, 12,
      1 | std::uint64_t{1} << 32, 0x9000, 0x9100, 13};
  GuestSample sample;
  sample.kernel = {kKernel, StopReason::kUserMode, 2, interruptions};
  sample.user = {kUser, StopReason::kEndOfStack, 0, {}};
  Capture capture;
  capture_of(sample, VcpuId{3}, Arch::kX86_64, capture);
  EXPECT_EQ(capture.vcpu, VcpuId{3});
  EXPECT_EQ(capture.level, PrivilegeLevel::kKernel);
  const arch::RegisterRoles& roles = arch::roles_of(Arch::kX86_64);
  EXPECT_EQ(capture.registers.get(roles.pc), kKernel[0]);
  const auto kernel = WalkedFrames::find(capture, PieceKind::kKernelFrames);
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->size(), 3u);
  EXPECT_EQ(kernel->at(2), GuestVirt{kKernel[2]});
  EXPECT_EQ(kernel->stop(), StopReason::kUserMode);
  ASSERT_EQ(kernel->interruptions().size(), 2u);
  EXPECT_EQ(kernel->interruptions()[0].frame, 0u);
  EXPECT_EQ(kernel->interruptions()[0].sp, 0x8000u);
  EXPECT_THAT(kernel->interruptions()[0].words, ::testing::ElementsAre(11, 12));
  EXPECT_EQ(kernel->interruptions()[1].frame, 1u);
  EXPECT_EQ(kernel->interruptions()[1].fp, 0x9100u);
  const auto user = WalkedFrames::find(capture, PieceKind::kUserFrames);
  ASSERT_TRUE(user);
  EXPECT_EQ(user->size(), 2u);
  EXPECT_EQ(user->at(0), GuestVirt{kUser[0]});
}

TEST(GuestCapture, OfUserCodeAloneIsInUserMode) {
  GuestSample sample;
  sample.user = {kUser, StopReason::kEndOfStack, 0, {}};
  Capture capture;
  capture_of(sample, VcpuId{0}, Arch::kX86_64, capture);
  EXPECT_EQ(capture.level, PrivilegeLevel::kUser);
  EXPECT_EQ(capture.registers.get(arch::roles_of(Arch::kX86_64).pc), kUser[0]);
  EXPECT_FALSE(WalkedFrames::find(capture, PieceKind::kKernelFrames));
}

TEST(GuestCapture, WithoutFramesIsIdle) {
  Capture capture;
  capture_of({}, VcpuId{0}, Arch::kX86_64, capture);
  EXPECT_EQ(capture.disposition, Disposition::kIdle);
  EXPECT_TRUE(capture.pieces.empty());
}

TEST(WalkedFrames, OfAPieceThatMakesNoSenseAreNone) {
  const std::array<std::uint64_t, 3> cut = {std::uint64_t{4} << 32, 1, 2};
  const std::array<GuestFrames, 4> senseless = {
      GuestFrames{{}, StopReason::kEndOfStack, 0, {}},
      GuestFrames{kKernel, static_cast<StopReason>(kStopReasonCount), 0, {}},
      GuestFrames{kKernel, StopReason::kEndOfStack, 1, cut},
      GuestFrames{kKernel, StopReason::kEndOfStack, 9, {}}};
  for (const GuestFrames& frames : senseless) {
    Capture capture;
    add_walked_frames(PieceKind::kKernelFrames, frames, capture);
    EXPECT_FALSE(WalkedFrames::find(capture, PieceKind::kKernelFrames));
  }
}

}  // namespace
}  // namespace ringside::wire
