#include "session/sampling/capture_feedback.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringside::session {
namespace {

Stack stack_with(StopReason reason) {
  Stack stack;
  stack.stop = reason;
  return stack;
}

wire::Capture kernel_capture(std::uint16_t vcpu) {
  wire::Capture capture;
  capture.vcpu = VcpuId{vcpu};
  capture.level = PrivilegeLevel::kKernel;
  return capture;
}

TEST(StackBudget, DoublesAndDecays) {
  StackBudget budget(2048);
  for (const std::uint32_t expected : {4096u, 8192u, 16384u, 32768u, 65536u, 65536u}) {
    budget.walked(true);
    EXPECT_EQ(budget.bytes(), expected);
  }
  for (int i = 0; i < 100'000; ++i) budget.walked(false);
  EXPECT_EQ(budget.bytes(), 2048u);
}

TEST(CaptureFeedback, KeepsVcpusAndModesApart) {
  CaptureFeedback feedback(2, 2048, false);
  feedback.learn(kernel_capture(1), stack_with(StopReason::kTruncated));
  EXPECT_EQ(feedback.advice(VcpuId{1}).kernel.stack_bytes[0], 4096u);
  EXPECT_EQ(feedback.advice(VcpuId{1}).user.stack_bytes[0], 2048u);
  EXPECT_EQ(feedback.advice(VcpuId{0}).kernel.stack_bytes[0], 2048u);
}

TEST(CaptureFeedback, FixedSizesStay) {
  CaptureFeedback feedback(1, 512, true);
  feedback.learn(kernel_capture(0), stack_with(StopReason::kTruncated));
  EXPECT_EQ(feedback.advice(VcpuId{0}).kernel.stack_bytes[0], 512u);
}

TEST(CaptureFeedback, ALinkIsLearntOnceAndDoesNotDoubleTheBytes) {
  CaptureFeedback feedback(1, 2048, false);
  Stack stack = stack_with(StopReason::kTruncated);
  stack.missing_link = StackLink{GuestVirt{0x8000}, GuestVirt{0x1234}};
  feedback.learn(kernel_capture(0), stack);
  feedback.learn(kernel_capture(0), stack);
  EXPECT_EQ(feedback.link_generation(), 1u);
  const auto advice = feedback.advice(VcpuId{0});
  ASSERT_EQ(advice.links.size(), 1u);
  EXPECT_EQ(advice.links[0].slot, GuestVirt{0x8000});
  EXPECT_EQ(advice.kernel.stack_bytes[0], 2048u);
}

TEST(CaptureFeedback, TracersRecordsAreAskedForOnceTheyAreMissed) {
  CaptureFeedback feedback(2, 2048, false);
  Stack stack = stack_with(StopReason::kTruncated);
  stack.hooked_returns = HookedReturns::kNotCopied;
  EXPECT_FALSE(feedback.advice(VcpuId{0}).hooked_returns);
  feedback.learn(kernel_capture(1), stack);
  feedback.learn(kernel_capture(1), stack);
  EXPECT_TRUE(feedback.advice(VcpuId{0}).hooked_returns);
  EXPECT_EQ(feedback.advice(VcpuId{1}).kernel.stack_bytes[0], 2048u);
  EXPECT_EQ(feedback.link_generation(), 1u);
  feedback.forget_links();
  EXPECT_FALSE(feedback.advice(VcpuId{0}).hooked_returns);
}

TEST(CaptureFeedback, TracersRecordsAreCopiedForAsLongAsSomeAreOfUse) {
  CaptureFeedback feedback(1, 2048, false);
  Stack traced = stack_with(StopReason::kTruncated);
  traced.hooked_returns = HookedReturns::kNotCopied;
  feedback.learn(kernel_capture(0), traced);
  traced.hooked_returns = HookedReturns::kRestored;
  const auto untraced = [&](std::uint32_t stacks) {
    while (stacks-- > 0) feedback.learn(kernel_capture(0), stack_with(StopReason::kUserMode));
  };
  untraced(CaptureFeedback::kUntracedStacks - 1);
  feedback.learn(kernel_capture(0), traced);
  untraced(CaptureFeedback::kUntracedStacks - 1);
  EXPECT_TRUE(feedback.advice(VcpuId{0}).hooked_returns);
  untraced(1);
  EXPECT_FALSE(feedback.advice(VcpuId{0}).hooked_returns);
}

TEST(CaptureFeedback, LearnsTheCopyAtTheTopOfTheStack) {
  CaptureFeedback feedback(1, 2048, false);
  wire::Capture capture = kernel_capture(0);
  // From 0x7fc0 up: a saved register with the other stack's pointer, something else, entry code's
  // own copy.
  const std::uint64_t words[] = {0, 0x5500, 0x1234, 0, 0x5500, 0x77};
  capture.bytes.resize(sizeof(words));
  std::memcpy(capture.bytes.data(), words, sizeof(words));
  capture.pieces.push_back(
      {GuestVirt{0x7fc0}, wire::PieceKind::kCurrentStack, sizeof(words), 0, sizeof(words)});
  Stack stack = stack_with(StopReason::kTruncated);
  stack.missing_link = StackLink{GuestVirt{0x7fc8}, GuestVirt{0x55a0}};
  feedback.learn(capture, stack);
  ASSERT_EQ(feedback.advice(VcpuId{0}).links.size(), 1u);
  EXPECT_EQ(feedback.advice(VcpuId{0}).links[0].slot, GuestVirt{0x7fe0});
}

TEST(CaptureFeedback, LearnsTheReturnAddressOfAFrameRecord) {
  CaptureFeedback feedback(1, 2048, false);
  wire::Capture capture = kernel_capture(0);
  capture.arch = Arch::kAArch64;
  const std::uint64_t words[] = {0, 0x5500, 0x2b1f'0000'8016'70c0, 0};
  capture.bytes.resize(sizeof(words));
  std::memcpy(capture.bytes.data(), words, sizeof(words));
  capture.pieces.push_back(
      {GuestVirt{0x7fc0}, wire::PieceKind::kCurrentStack, sizeof(words), 0, sizeof(words)});
  Stack stack = stack_with(StopReason::kTruncated);
  stack.missing_link = StackLink{GuestVirt{0x7fc8}, GuestVirt{0x5508}};
  feedback.learn(capture, stack);
  ASSERT_EQ(feedback.advice(VcpuId{0}).links.size(), 1u);
  EXPECT_EQ(feedback.advice(VcpuId{0}).links[0],
            (guestos::LearntLink{GuestVirt{0x7fc8}, 0x8016'70c0}));
}

TEST(CaptureFeedback, FindsTheSlotOfAPointerThatWasInARegisterOnly) {
  CaptureFeedback feedback(1, 2048, false);
  wire::Capture capture = kernel_capture(0);
  const std::uint64_t words[] = {0x9999, 0x5500, 0x12, 0x34};
  capture.bytes.resize(sizeof(words));
  std::memcpy(capture.bytes.data(), words, sizeof(words));
  capture.pieces.push_back(
      {GuestVirt{0x17fc0}, wire::PieceKind::kCurrentStack, sizeof(words), 0, sizeof(words)});
  Stack stack = stack_with(StopReason::kUnreadable);
  stack.stopped_at = GuestVirt{0x5570};
  feedback.learn(capture, stack);
  ASSERT_EQ(feedback.advice(VcpuId{0}).links.size(), 1u);
  EXPECT_EQ(feedback.advice(VcpuId{0}).links[0].slot, GuestVirt{0x17fc8});
  // Just behind what was copied: more bytes are what is missing.
  stack.stop = StopReason::kTruncated;
  stack.stopped_at = GuestVirt{0x17fe8};
  feedback.learn(capture, stack);
  EXPECT_EQ(feedback.advice(VcpuId{0}).links.size(), 1u);
  EXPECT_EQ(feedback.advice(VcpuId{0}).kernel.stack_bytes[0], 4096u);
}

class LearntEntry : public ::testing::Test {
 protected:
  // A thread's stack ends behind `slot`.
  void enter_on(std::uint64_t slot, std::uint64_t user_sp = 0x7fff0000) {
    wire::Capture capture = kernel_capture(0);
    capture.arch = Arch::kX86_64;
    capture.bytes.resize(16);
    capture.pieces.push_back({GuestVirt{0x7ffe0000}, wire::PieceKind::kUserStack, 16, 0, 16});
    unwind::UserEntry entry{.sp_slot = GuestVirt{slot}};
    entry.registers.set(arch::x86_64::kRsp, user_sp);
    feedback_.learn_entry(capture, entry);
  }
  [[nodiscard]] std::vector<std::uint64_t> slots(std::uint16_t vcpu) const {
    std::vector<std::uint64_t> found;
    for (const guestos::LearntLink& link : feedback_.advice(VcpuId{vcpu}).links)
      if (link.leads_to_user) found.push_back(link.slot.value);
    return found;
  }
  CaptureFeedback feedback_{2, 2048, false};
};

TEST_F(LearntEntry, ThreadsMoveBetweenVcpus) {
  enter_on(0x3ff0);
  enter_on(0x7ff0);
  enter_on(0x3ff0);
  EXPECT_EQ(feedback_.link_generation(), 2u);
  EXPECT_EQ(slots(0), (std::vector<std::uint64_t>{0x3ff0, 0x7ff0}));
  EXPECT_EQ(slots(1), slots(0));
}

TEST_F(LearntEntry, WhatWasCopiedIsNotLearnt) {
  enter_on(0x3ff0, 0x7ffe0008);
  EXPECT_TRUE(slots(0).empty());
}

TEST_F(LearntEntry, TheThreadsThatRanLastAreKnown) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    enter_on(0x3ff0);
    enter_on(0x100000 + i * 0x4000);
  }
  const auto known = slots(0);
  EXPECT_EQ(known.size(), 48u);
  EXPECT_NE(std::find(known.begin(), known.end(), 0x3ff0u), known.end());
  EXPECT_NE(std::find(known.begin(), known.end(), 0x100000u + 999 * 0x4000), known.end());
}

TEST_F(LearntEntry, AStackThatEndsBeforeTheSavedRegistersIsTruncated) {
  feedback_.learn_entry(kernel_capture(1), {.truncated = true});
  EXPECT_EQ(feedback_.advice(VcpuId{1}).kernel.stack_bytes[0], 4096u);
  EXPECT_EQ(feedback_.advice(VcpuId{0}).kernel.stack_bytes[0], 2048u);
}

}  // namespace
}  // namespace ringside::session
