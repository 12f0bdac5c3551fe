// Walks through return addresses that a tracer has replaced. The code is that of the stepped
// program; one of its functions stands for the tracer's.

#include <gtest/gtest.h>

#include "arch/arch_info.h"
#include "unwind/unwinder.h"

namespace ringside::unwind {
namespace {

using namespace arch::x86_64;

constexpr std::uint64_t kStack = 0xffff888000010000;
constexpr std::uint64_t kOtherStack = 0xffff888000020000;
constexpr std::uint64_t kBias = 0xffffffff80000000;
constexpr std::uint16_t kStateTag = 7;
constexpr std::uint16_t kRecordsTag = 8;

using Words = std::vector<std::uint64_t>;

class HookedWalkTest : public ::testing::Test {
 protected:
  HookedWalkTest() {
    images_.add({.id = 1, .name = "kernel", .file = file_, .load_bias = kBias});
    capture_.arch = Arch::kX86_64;
    capture_.level = PrivilegeLevel::kKernel;
    capture_.registers.set(kCs, 0x10);
    capture_.registers.set(kRip, at("leaf"));
    capture_.registers.set(kRsp, kStack);
    // leaf was called by call_without_frame, whose frame has 48 bytes, and that by _start.
    stack({hook(), 0, 0, 0, 0x13, 0x12, at("_start") + 9});
  }
  [[nodiscard]] std::uint64_t at(const char* name) const {
    return file_->symbol_named(name)->address.value + kBias;
  }
  [[nodiscard]] std::uint64_t hook() const { return at("early_exit"); }
  [[nodiscard]] std::uint64_t in_caller() const { return at("call_without_frame") + 17; }
  void piece(std::uint64_t address, const Words& words, wire::PieceKind why, std::uint16_t tag) {
    const auto bytes = std::as_bytes(std::span(words));
    const auto size = static_cast<std::uint32_t>(bytes.size());
    const auto offset = static_cast<std::uint32_t>(capture_.bytes.size());
    capture_.pieces.push_back({{address}, why, size, offset, size, tag});
    capture_.bytes.insert(capture_.bytes.end(), bytes.begin(), bytes.end());
  }
  void stack(const Words& words) { piece(kStack, words, wire::PieceKind::kCurrentStack, 0); }
  void records(const Words& state, const Words& words) {
    piece(0x1000, state, wire::PieceKind::kSystem, kStateTag);
    piece(0x2000, words, wire::PieceKind::kSystem, kRecordsTag);
  }
  // A record is an address, the function, and the slot.
  [[nodiscard]] ReturnHook tracer(ReturnHook::Records records) const {
    return {.start = {hook()},
            .end = {at("tail_caller")},
            .records = records,
            .state_tag = kStateTag,
            .records_tag = kRecordsTag,
            .record_size = 24,
            .return_offset = 0,
            .function_offset = 8,
            .frame_offsets = {16}};
  }
  [[nodiscard]] Stack unwind(ReturnHook::Records records = ReturnHook::Records::kArray) const {
    return Unwinder(images_, {.hooks = {tracer(records)}}).unwind(capture_);
  }
  void expect_whole(const Stack& stack) const {
    ASSERT_EQ(stack.frames.size(), 3u);
    EXPECT_EQ(stack.frames[1].address.value, in_caller());
    EXPECT_FALSE(stack.frames[1].exact);
    EXPECT_EQ(stack.frames[2].address.value, at("_start") + 9);
    EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
    EXPECT_EQ(stack.hooked_returns, HookedReturns::kRestored);
  }

  std::shared_ptr<const elf::ElfFile> file_ =
      elf::ElfFile::open(RINGSIDE_STEP_PROGRAMS "/step_gcc_debug_frame").value();
  elf::ImageMap images_;
  wire::Capture capture_;
};

TEST_F(HookedWalkTest, TheRecordOfTheSlotHasTheCaller) {
  // The newest is of a call whose return address is not replaced yet, or no longer.
  records({2}, {1, 2, 3, in_caller(), at("leaf"), kStack, 4, at("leaf"), kStack - 64});
  expect_whole(unwind());
}

TEST_F(HookedWalkTest, WithoutAPlaceTheFunctionDecides) {
  records({0}, {in_caller(), at("leaf") + 4, 0});
  expect_whole(unwind());
}

TEST_F(HookedWalkTest, AFunctionThatWasJumpedToHasTheHookAsItsCaller) {
  records({1}, {in_caller(), at("recursive"), kStack, hook(), at("leaf"), kStack});
  expect_whole(unwind());
}

TEST_F(HookedWalkTest, ARecordOfAnotherFunctionIsNotTaken) {
  records({0}, {in_caller(), at("recursive"), 0});
  const Stack stack = unwind();
  EXPECT_EQ(stack.frames.size(), 1u);
  EXPECT_EQ(stack.stop, StopReason::kBadAddress);
  EXPECT_EQ(stack.hooked_returns, HookedReturns::kNone);
}

// A record of another task, while the kernel switches to this one: the same function at another
// place.
TEST_F(HookedWalkTest, ARecordOfAnotherPlaceIsNotTaken) {
  records({0}, {in_caller(), at("leaf"), kOtherStack});
  EXPECT_EQ(unwind().frames.size(), 1u);
}

TEST_F(HookedWalkTest, NoMoreThanWereCopiedAreRead) {
  records({0x7fffffff}, {in_caller(), at("leaf"), kStack});
  expect_whole(unwind());
  capture_.pieces.pop_back();
  EXPECT_EQ(unwind().frames.size(), 1u);
  capture_.pieces.pop_back();
  records({0xffffffff}, {in_caller(), at("leaf"), kStack});
  EXPECT_EQ(unwind().frames.size(), 1u);
}

TEST_F(HookedWalkTest, AskForRecordsThatWereNotCopied) {
  const Stack stack = unwind();
  EXPECT_EQ(stack.frames.size(), 1u);
  EXPECT_EQ(stack.stop, StopReason::kNotCopied);
  EXPECT_EQ(stack.hooked_returns, HookedReturns::kNotCopied);
  // Where no recipe copies them, nothing is to be asked for.
  const Stack without = unwind(ReturnHook::Records::kNone);
  EXPECT_EQ(without.stop, StopReason::kBadAddress);
  EXPECT_EQ(without.hooked_returns, HookedReturns::kNone);
}

TEST_F(HookedWalkTest, ReadsAShadowStack) {
  // Two records, each with the distance to its start behind it: the newer one has two words of its
  // tracer's, too, and its distance other bits.
  records({10}, {in_caller(), at("leaf"), kStack, 3, 1, 2, kStack - 64, 77, 78, 0x2405, 9, 9});
  expect_whole(unwind(ReturnHook::Records::kShadowStack));
}

TEST_F(HookedWalkTest, AShadowStackThatLeadsNowhereHasNoRecords) {
  for (const std::uint64_t distance : {0u, 4u, 1023u}) {
    records({4}, {in_caller(), at("leaf"), kStack, distance});
    EXPECT_EQ(unwind(ReturnHook::Records::kShadowStack).stop, StopReason::kBadAddress);
    capture_.pieces.resize(1);
  }
}

TEST_F(HookedWalkTest, ReadsAListOfPieces) {
  records({1}, {in_caller() + 1, at("recursive"), kStack - 8});
  piece(0x3000, {in_caller(), at("leaf"), kStack}, wire::PieceKind::kSystem, kRecordsTag);
  expect_whole(unwind(ReturnHook::Records::kList));
}

// In the hook's own code: leaf has returned to it.
class InHookTest : public HookedWalkTest {
 protected:
  InHookTest() {
    capture_.registers.set(kRip, hook());
    capture_.registers.set(kRsp, kStack + 8);
  }
  [[nodiscard]] Stack unwind_hook(ReturnHook::Records records) const {
    ReturnHook hook = tracer(records);
    hook.has_no_frame = true;
    return Unwinder(images_, {.hooks = {hook}}).unwind(capture_);
  }
};

TEST_F(InHookTest, TheHookReturnsToTheCallerToo) {
  records({0}, {in_caller(), at("leaf"), kStack});
  expect_whole(unwind_hook(ReturnHook::Records::kArray));
}

TEST_F(InHookTest, TheRecordMayHaveBeenRemoved) {
  records({0xffffffff}, {in_caller(), at("leaf"), kStack});
  expect_whole(unwind_hook(ReturnHook::Records::kArray));
  capture_.pieces.resize(1);
  records({0}, {in_caller(), at("leaf"), kStack});
  expect_whole(unwind_hook(ReturnHook::Records::kShadowStack));
  capture_.pieces.resize(1);
  records({0xffffffff}, {in_caller(), at("leaf"), 0});
  EXPECT_EQ(unwind_hook(ReturnHook::Records::kArray).frames.size(), 1u);
}

TEST_F(HookedWalkTest, OutsideOfTheHookARemovedRecordIsNotTaken) {
  records({0xffffffff}, {in_caller(), at("leaf"), kStack});
  EXPECT_EQ(unwind().frames.size(), 1u);
}

}  // namespace
}  // namespace ringside::unwind
