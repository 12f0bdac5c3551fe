// Where stacks end whose first function returns to nothing that is known, and where a wrong rule
// makes the middle of a stack look like that. Captures are written by hand; the code is that of the
// stepped program with call-frame information.

#include "unwind/stack_end.h"

#include <gtest/gtest.h>

#include "unwind/unwinder.h"

namespace ringside::unwind {
namespace {

using namespace arch::x86_64;

constexpr std::uint64_t kPageEnd = 0xffff888000011000;
constexpr std::uint64_t kPoison = 0xa5a5a5a5a5a5a5a5;
constexpr std::uint64_t kUserCode = 0x40012a;
constexpr std::size_t kFrameWords = 6;  // of call_without_frame, with its return address
constexpr std::size_t kPageWords = 512;

class StackEndTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = elf::ElfFile::open(RINGSIDE_STEP_PROGRAMS "/step_gcc_debug_frame");
    ASSERT_TRUE(file) << file.error().message;
    file_ = *file;
    images_.add({.id = 1, .name = "kernel", .file = file_, .load_bias = kBias});
  }
  [[nodiscard]] std::uint64_t at(const char* name) const {
    return file_->symbol_named(name)->address.value + kBias;
  }
  [[nodiscard]] std::uint64_t in_caller() const { return at("call_without_frame") + 17; }

  // A stack up to the page's end: a leaf that was just entered, under `frames` frames of
  // call_without_frame. The outermost of these returns to above[0].
  [[nodiscard]] std::vector<std::uint64_t> stack(std::size_t frames,
                                                 const std::vector<std::uint64_t>& above) const {
    std::vector<std::uint64_t> words = {in_caller()};
    for (std::size_t i = 0; i < frames; ++i) {
      words.insert(words.end(), {0, 0, 0, 0x13, 0x12});
      if (i + 1 < frames) words.push_back(in_caller());
    }
    words.insert(words.end(), above.begin(), above.end());
    return words;
  }
  // The stack's last word is the page's. `requested` is how many bytes the capture asked for,
  // `copied` how many words it got.
  [[nodiscard]] wire::Capture capture(const std::vector<std::uint64_t>& words,
                                      std::size_t requested = 0, std::size_t copied = 0) const {
    wire::Capture capture;
    capture.arch = Arch::kX86_64;
    capture.level = PrivilegeLevel::kKernel;
    capture.registers.set(kCs, 0x10);
    capture.registers.set(kRip, at("leaf"));
    capture.registers.set(kRsp, kPageEnd - words.size() * 8);
    const std::size_t size = 8 * (copied == 0 ? words.size() : copied);
    capture.pieces.push_back({{kPageEnd - words.size() * 8},
                              wire::PieceKind::kCurrentStack,
                              static_cast<std::uint32_t>(std::max(requested, size)),
                              0,
                              static_cast<std::uint32_t>(size)});
    const auto bytes = std::as_bytes(std::span(words)).first(size);
    capture.bytes.assign(bytes.begin(), bytes.end());
    return capture;
  }
  // By the fast walk and by the one with all registers.
  [[nodiscard]] Stack unwind(const wire::Capture& capture) const {
    const Stack stack = Unwinder(images_).unwind(capture);
    const Stack full = Unwinder(images_, {.full_only = true}).unwind(capture);
    EXPECT_EQ(stack.frames, full.frames);
    EXPECT_EQ(stack.stop, full.stop);
    return stack;
  }

  static constexpr std::uint64_t kBias = 0xffffffff80000000;
  std::shared_ptr<const elf::ElfFile> file_;
  elf::ImageMap images_;
};

TEST_F(StackEndTest, WhatIsNoReturnAddressEndsAStackAtItsTop) {
  for (const std::uint64_t word : {std::uint64_t{0}, kPoison, kUserCode, std::uint64_t{1}}) {
    EXPECT_EQ(unwind(capture(stack(2, {word}))).stop, StopReason::kEndOfStack) << word;
    // Below saved registers, one of them a pointer to a function of the kernel.
    std::vector<std::uint64_t> saved(40, kPoison);
    saved[0] = word;
    saved[9] = at("call_without_frame");
    const Stack result = unwind(capture(stack(2, saved)));
    EXPECT_EQ(result.stop, StopReason::kEndOfStack) << word;
    EXPECT_EQ(result.frames.size(), 3u);
  }
}

// Each return address in turn is another word, as it would be with a wrong rule; callers are above
// it. Not so the last one, which cannot be distinguished from a first function's.
TEST_F(StackEndTest, NoneOfThemEndsAStackInItsMiddle) {
  constexpr std::size_t kFrames = 40;
  for (const std::uint64_t word : {std::uint64_t{0}, kPoison, kUserCode, at("leaf")})
    for (std::size_t frame = 1; frame + 1 < kFrames; ++frame) {
      std::vector<std::uint64_t> words = stack(kFrames, {kPoison});
      words[frame * kFrameWords] = word;
      EXPECT_FALSE(is_complete(unwind(capture(words)).stop)) << word << " in frame " << frame;
    }
}

// With a gap of half a page above it: a buffer of one of the callers.
TEST_F(StackEndTest, ABufferIsNoTop) {
  std::vector<std::uint64_t> above(kPageWords / 2, 0x4141414141414141);
  above.push_back(in_caller());
  above.resize(above.size() + kFrameWords);
  for (const std::uint64_t word : {kPoison, kUserCode}) {
    above[0] = word;
    EXPECT_EQ(unwind(capture(stack(2, above))).stop, StopReason::kBadAddress);
  }
}

// All of this stack's first functions are in one module, of which nothing is known.
TEST_F(StackEndTest, AModulesCodeIsNoEnd) {
  constexpr std::uint64_t kModule = 0xffffffffc0001234;
  EXPECT_EQ(unwind(capture(stack(2, {kModule, 0, 0, 0, kModule + 99}))).stop,
            StopReason::kBadAddress);
  EXPECT_EQ(unwind(capture(stack(2, {kPageEnd - 64, 0, 0, 0}))).stop, StopReason::kEndOfStack);
}

TEST_F(StackEndTest, WhatWasNotCopiedMayHoldReturnAddresses) {
  std::vector<std::uint64_t> above(20, kPoison);
  const std::vector<std::uint64_t> words = stack(2, above);
  EXPECT_EQ(unwind(capture(words, 0, words.size() - 1)).stop, StopReason::kBadAddress);
  EXPECT_EQ(unwind(capture(words, 0, words.size())).stop, StopReason::kEndOfStack);
}

TEST_F(StackEndTest, MemoryEndsAStackAtAPagesEnd) {
  const std::vector<std::uint64_t> words = stack(2, {});
  EXPECT_EQ(unwind(capture(words, 4096)).stop, StopReason::kEndOfStack);
  EXPECT_EQ(unwind(capture(words)).stop, StopReason::kTruncated);
  // A word less: what should be there is not the first word behind it.
  const std::vector<std::uint64_t> shorter(words.begin(), words.end() - 1);
  EXPECT_EQ(unwind(capture(shorter, 4096)).stop, StopReason::kUnreadable);
}

TEST_F(StackEndTest, AFunctionsFirstByteNamesThatFunction) {
  std::vector<std::uint64_t> above(20, kPoison);
  above[0] = at("leaf");
  const Stack result = unwind(capture(stack(2, above)));
  EXPECT_EQ(result.stop, StopReason::kEndOfStack);
  ASSERT_EQ(result.frames.size(), 4u);
  EXPECT_EQ(result.frames.back().address.value, at("leaf"));
  EXPECT_TRUE(result.frames.back().exact);
}

TEST_F(StackEndTest, AFunctionThatWouldReturnToItselfIsThereOnce) {
  std::vector<std::uint64_t> above(20, kPoison);
  above[0] = at("call_without_frame");
  const Stack result = unwind(capture(stack(2, above)));
  EXPECT_EQ(result.stop, StopReason::kEndOfStack);
  EXPECT_EQ(result.frames.size(), 3u);
}

// A small number above a word is not user mode's code segment, nor are five words that do not fit.
TEST_F(StackEndTest, ASmallNumberIsNoUserMode) {
  EXPECT_EQ(unwind(capture(stack(2, {kUserCode, 7, 0}))).stop, StopReason::kEndOfStack);
  EXPECT_EQ(unwind(capture(stack(2, {kUserCode, 3, 0x202, 0x7000, 3}))).stop,
            StopReason::kEndOfStack);
  EXPECT_EQ(unwind(capture(stack(2, {kUserCode, 0x33, 0x202, 0x7000, 0x33}))).stop,
            StopReason::kEndOfStack);
  EXPECT_EQ(unwind(capture(stack(2, {kUserCode, 0x33, 0x202, 0x7000, 0x2b}))).stop,
            StopReason::kUserMode);
}

}  // namespace
}  // namespace ringside::unwind
