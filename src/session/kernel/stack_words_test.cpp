#include "session/kernel/stack_words.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>

#include "arch/aarch64.h"
#include "base/testing/function_memory.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kStack = 0xffff80000a3b4000;  // its end
constexpr std::uint64_t kText = 0xffff800008011a00;
constexpr std::uint32_t kCall = 0x94000123;    // bl
constexpr std::uint32_t kCallBy = 0xd63f0020;  // blr x1
constexpr std::uint32_t kNop = 0xd503201f;

class CallsBelowStack : public ::testing::Test {
 protected:
  CallsBelowStack() {
    capture_.arch = Arch::kAArch64;
    capture_.registers.set(arch::aarch64::kPc, 0xfffffbfffdbf7c1c);  // the trampoline
    capture_.registers.set(arch::aarch64::kSp, kStack);
  }
  // A word below the stack pointer.
  void leave(std::uint64_t below, std::uint64_t word) {
    std::memcpy(stack_.data() + stack_.size() - below, &word, sizeof word);
  }
  std::vector<std::uint64_t> calls() {
    ringside::testing::FunctionMemory memory(
        [this](GuestVirt at, std::span<std::byte> into) { return read(at, into); });
    std::vector<std::uint64_t> found;
    const auto calls = calls_below_stack(capture_, memory);
    EXPECT_TRUE(calls);
    for (const GuestVirt call : *calls) found.push_back(call.value);
    return found;
  }
  Result<std::size_t> read(GuestVirt at, std::span<std::byte> into) {
    if (const auto word = code_.find(at.value); word != code_.end()) {
      std::memcpy(into.data(), &word->second, sizeof word->second);
      return sizeof word->second;
    }
    const std::uint64_t offset = at.value - (kStack - stack_.size());
    if (offset >= stack_.size()) return 0;
    std::memcpy(into.data(), stack_.data() + offset, into.size());
    return into.size();
  }

  wire::Capture capture_;
  std::array<std::byte, 2048> stack_{};
  std::map<std::uint64_t, std::uint32_t> code_;
};

TEST_F(CallsBelowStack, AreReturnAddressesBehindACallTheOutermostFirst) {
  leave(352, kText);
  code_[kText - 4] = kCall;
  leave(400, 0x00bf8000'08234568);  // signed
  code_[0xffff800008234564] = kCallBy;
  EXPECT_EQ(calls(), (std::vector<std::uint64_t>{kText, 0xffff800008234568}));
}

TEST_F(CallsBelowStack, AreNoOtherWords) {
  leave(8, 0x4ba534);             // user code's
  leave(16, kStack - 0x100);      // of the stack
  leave(24, 0xffff000003a80000);  // data
  leave(32, kText);               // no call is there
  code_[kText - 4] = kNop;
  leave(2000, kText + 0x10000);  // too far below
  code_[kText + 0xfffc] = kCall;
  EXPECT_TRUE(calls().empty());
}

TEST_F(CallsBelowStack, AreLookedForOnAArch64Only) {
  leave(352, kText);
  code_[kText - 4] = kCall;
  capture_.arch = Arch::kRiscv64;
  EXPECT_TRUE(calls().empty());
}

}  // namespace
}  // namespace ringside::session
