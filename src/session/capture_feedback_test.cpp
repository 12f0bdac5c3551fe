#include "session/capture_feedback.h"

#include <gtest/gtest.h>

namespace ringside::session {
namespace {

Stack stack_with(StopReason reason) {
  Stack stack;
  stack.stop = reason;
  return stack;
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
  feedback.learn(VcpuId{1}, PrivilegeLevel::kKernel, stack_with(StopReason::kTruncated));
  EXPECT_EQ(feedback.advice(VcpuId{1}).kernel.stack_bytes[0], 4096u);
  EXPECT_EQ(feedback.advice(VcpuId{1}).user.stack_bytes[0], 2048u);
  EXPECT_EQ(feedback.advice(VcpuId{0}).kernel.stack_bytes[0], 2048u);
}

TEST(CaptureFeedback, FixedSizesStay) {
  CaptureFeedback feedback(1, 512, true);
  feedback.learn(VcpuId{0}, PrivilegeLevel::kKernel, stack_with(StopReason::kTruncated));
  EXPECT_EQ(feedback.advice(VcpuId{0}).kernel.stack_bytes[0], 512u);
}

TEST(CaptureFeedback, ALinkIsLearntOnceAndDoesNotDoubleTheBytes) {
  CaptureFeedback feedback(1, 2048, false);
  Stack stack = stack_with(StopReason::kTruncated);
  stack.missing_link = StackLink{GuestVirt{0x8000}, GuestVirt{0x1234}};
  feedback.learn(VcpuId{0}, PrivilegeLevel::kKernel, stack);
  feedback.learn(VcpuId{0}, PrivilegeLevel::kKernel, stack);
  EXPECT_EQ(feedback.link_generation(), 1u);
  const auto advice = feedback.advice(VcpuId{0});
  ASSERT_EQ(advice.links.size(), 1u);
  EXPECT_EQ(advice.links[0], GuestVirt{0x8000});
  EXPECT_EQ(advice.kernel.stack_bytes[0], 2048u);
}

}  // namespace
}  // namespace ringside::session
