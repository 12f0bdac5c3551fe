// Walks over captures written by hand: stack links, missing and truncated stacks, trap-frame
// layouts, and every way a walk ends. The code is that of the stepped program with call-frame
// information.

#include <gtest/gtest.h>

#include "arch/arch_info.h"
#include "unwind/frame_pointer.h"
#include "unwind/stack_memory.h"
#include "unwind/unwinder.h"

namespace ringside::unwind {
namespace {

using namespace arch::x86_64;

constexpr std::uint64_t kStack = 0xffff888000010000;
constexpr std::uint64_t kOtherStack = 0xffffc90000020000;

class StackWalk : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = elf::ElfFile::open(RINGSIDE_STEP_PROGRAMS "/step_gcc_debug_frame");
    ASSERT_TRUE(file) << file.error().message;
    file_ = *file;
    images_.add({.id = 1, .name = "kernel", .file = file_, .load_bias = kBias});
    capture_.arch = Arch::kX86_64;
    capture_.level = PrivilegeLevel::kKernel;
    capture_.registers.set(kCs, 0x10);
  }
  [[nodiscard]] std::uint64_t at(const char* name) const {
    return file_->symbol_named(name)->address.value + kBias;
  }
  void start(std::uint64_t pc, std::uint64_t sp) {
    capture_.registers.set(kRip, pc);
    capture_.registers.set(kRsp, sp);
  }
  void piece(std::uint64_t address, const std::vector<std::uint64_t>& words,
             wire::PieceKind why = wire::PieceKind::kCurrentStack, std::uint32_t requested = 0) {
    const auto size = static_cast<std::uint32_t>(words.size() * 8);
    const auto bytes = std::as_bytes(std::span(words));
    capture_.pieces.push_back({{address},
                               why,
                               requested == 0 ? size : requested,
                               static_cast<std::uint32_t>(capture_.bytes.size()),
                               size});
    capture_.bytes.insert(capture_.bytes.end(), bytes.begin(), bytes.end());
  }
  // A leaf that was just entered, called from call_without_frame: its frame has 48 bytes.
  [[nodiscard]] std::uint64_t in_caller() const { return at("call_without_frame") + 17; }
  [[nodiscard]] static std::vector<std::uint64_t> frame(std::uint64_t returns_to) {
    return {0, 0, 0, 0x13, 0x12, returns_to};
  }
  [[nodiscard]] Stack unwind(Options options = {}) const {
    return Unwinder(images_, std::move(options)).unwind(capture_);
  }

  static constexpr std::uint64_t kBias = 0xffffffff80000000;
  std::shared_ptr<const elf::ElfFile> file_;
  elf::ImageMap images_;
  wire::Capture capture_;
};

std::vector<std::uint64_t> joined(std::initializer_list<std::vector<std::uint64_t>> parts) {
  std::vector<std::uint64_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  return all;
}

TEST_F(StackWalk, EndsWhereTheCallFrameInformationSaysSo) {
  start(at("leaf"), kStack);
  piece(kStack, joined({{in_caller()}, frame(at("_start") + 9)}));
  const Stack stack = unwind();
  ASSERT_EQ(stack.frames.size(), 3u);
  EXPECT_EQ(stack.frames[1].address.value, in_caller());
  EXPECT_EQ(stack.frames[1].source, FrameSource::kCfi);
  EXPECT_FALSE(stack.frames[1].exact);
  EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
}

TEST_F(StackWalk, TablesCanBeLeftOut) {
  start(at("leaf"), kStack);
  piece(kStack, joined({{in_caller()}, frame(at("_start") + 9)}));
  const Stack stack = unwind({.tables = {.cfi = false}});
  ASSERT_GE(stack.frames.size(), 2u);
  EXPECT_EQ(stack.frames[1].address.value, in_caller());
  EXPECT_EQ(stack.frames[1].source, FrameSource::kInstructions);
}

TEST_F(StackWalk, StackThatWasNotCopiedFarEnoughIsTruncated) {
  start(at("leaf"), kStack);
  piece(kStack, {in_caller(), 0, 0});
  const Stack stack = unwind();
  EXPECT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(stack.stop, StopReason::kTruncated);
  EXPECT_EQ(stack.stopped_at.value, kStack + 8 + 40);
  EXPECT_FALSE(stack.missing_link);
}

// Frames of user code may be larger than 4 KiB.
TEST_F(StackWalk, AFramePointerPastTheCopiedPartIsOfThatStack) {
  constexpr std::uint64_t kLow = 0x10000;
  start(at("leaf"), kLow);
  piece(kLow, {0, 0, 0});
  const StackMemory memory(capture_, images_);
  const auto reason = [&](std::uint64_t address, std::uint64_t position) {
    return memory.explain({address}, {kLow + 8}, GuestVirt{position}).reason;
  };
  EXPECT_EQ(reason(kLow + 0x2008, kLow + 16), StopReason::kTruncated);
  EXPECT_EQ(reason(kLow + 0x2008, kLow + 0x2000), StopReason::kNotCopied);
  EXPECT_EQ(reason(kLow + 0x200000, kLow + 16), StopReason::kUnreadable);
}

TEST_F(StackWalk, StackThatEndsBeforeWhatWasAskedForIsUnreadable) {
  start(at("leaf"), kStack);
  piece(kStack, {in_caller(), 0, 0}, wire::PieceKind::kCurrentStack, 4096);
  EXPECT_EQ(unwind().stop, StopReason::kUnreadable);
}

// An emitted value has no address: it is neither the stack's memory nor a stack below it.
TEST_F(StackWalk, AValueIsNoMemory) {
  constexpr std::uint64_t kLow = 0x1000;  // near the address 0 that such a piece has
  start(at("leaf"), kLow);
  piece(0, {in_caller()}, wire::PieceKind::kValue);
  EXPECT_EQ(unwind().stop, StopReason::kNotCopied);
  start(at("leaf"), 0);
  EXPECT_EQ(unwind().frames.size(), 1u);
}

TEST_F(StackWalk, StackLinkLeadsToTheInterruptedStack) {
  start(at("leaf"), kStack);
  piece(kStack, {in_caller(), 0, 0, 0, 0, 0, in_caller()});
  // The caller's CFA is the slot, as in Linux's call_on_irqstack.
  piece(kStack + 56, {kOtherStack}, wire::PieceKind::kStackLink);
  piece(kOtherStack, frame(at("_start") + 9), wire::PieceKind::kInterruptedStack);
  const Stack stack = unwind();
  EXPECT_EQ(stack.frames.size(), 4u);
  EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
}

// Without tables: interrupt_entry is about to pop the stack pointer itself.
TEST_F(StackWalk, InstructionsFollowTheLinkThatTheyPop) {
  const Bytes code = file_->bytes_at(file_->symbol_named("interrupt_entry")->address, 128);
  std::size_t pop = 5;  // pop %rsp, behind a call
  while (pop < code.size() && (code[pop] != std::byte{0x5c} || code[pop - 5] != std::byte{0xe8}))
    ++pop;
  const std::uint64_t returns_to = at("interrupt_entry") + pop;
  start(at("leaf"), kStack);
  piece(kStack, {returns_to});
  piece(kStack + 8, {kOtherStack}, wire::PieceKind::kStackLink);
  const std::vector<std::uint64_t> registers(11);
  piece(
      kOtherStack,
      joined(
          {registers, {in_caller(), 0x10, 0x202, kOtherStack + 16 * 8, 0x18}, frame(in_caller())}),
      wire::PieceKind::kInterruptedStack);
  for (const bool full_only : {false, true}) {
    const Stack stack = unwind({.tables = {.cfi = false}, .full_only = full_only});
    ASSERT_GE(stack.frames.size(), 4u);
    EXPECT_EQ(stack.frames[1].address.value, returns_to);
    EXPECT_EQ(stack.frames[2].address.value, in_caller());
    EXPECT_TRUE(stack.frames[2].exact);
    EXPECT_EQ(stack.frames[2].source, FrameSource::kInterruptFrame);
    EXPECT_EQ(stack.frames[3].address.value, in_caller());
  }
}

TEST_F(StackWalk, LinkToAStackThatWasNotCopiedIsNamed) {
  start(at("leaf"), kStack);
  piece(kStack, {in_caller(), 0, 0, 0, 0, 0, in_caller()});
  piece(kStack + 56, {kOtherStack}, wire::PieceKind::kStackLink);
  const Stack stack = unwind();
  EXPECT_EQ(stack.frames.size(), 3u);
  EXPECT_EQ(stack.stop, StopReason::kNotCopied);
  ASSERT_TRUE(stack.missing_link);
  EXPECT_EQ(stack.missing_link->slot.value, kStack + 56);
  EXPECT_EQ(stack.missing_link->target.value, kOtherStack + 40);
}

TEST_F(StackWalk, TrapFrameLayoutCrossesToInterruptedKernelCode) {
  const std::uint64_t entry = at("interrupt_handler");
  TrapFrameLayout layout{.start = {entry}, .end = {entry + 4}};
  layout.frame.save(kRip, 0x10).save(kCs, 0x18).save(kRsp, 0x28).save(kRbx, 0);
  start(at("leaf"), kStack);
  piece(kStack, joined({{entry + 2, 0xb, 0, in_caller(), 0x10, 2, kStack + 64, 0x18},
                        frame(at("_start") + 9)}));
  const Stack stack = unwind({.entries = {layout}});
  ASSERT_EQ(stack.frames.size(), 4u);
  EXPECT_TRUE(stack.frames[2].exact);
  EXPECT_EQ(stack.frames[2].source, FrameSource::kInterruptFrame);
  EXPECT_EQ(stack.frames[0].kind, FrameKind::kInterrupt);
  EXPECT_EQ(stack.frames[1].kind, FrameKind::kInterrupt);
  EXPECT_EQ(stack.frames[2].kind, FrameKind::kKernel);
  EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
}

TEST_F(StackWalk, InterruptedLeafMayHaveTakenAFewBytes) {
  const std::uint64_t entry = at("interrupt_handler");
  const std::uint64_t taken = at("takes_four_bytes") + 4;  // behind its subq
  TrapFrameLayout layout{.start = {entry}, .end = {entry + 4}};
  layout.frame.save(kRip, 0x10).save(kCs, 0x18).save(kRsp, 0x28).save(kRbx, 0);
  start(at("leaf"), kStack);
  piece(kStack, joined({{entry + 2, 0xb, 0, taken, 0x10, 2, kStack + 68, 0x18, 0, in_caller()},
                        frame(at("_start") + 9)}));
  const Stack stack = unwind({.entries = {layout}});
  ASSERT_EQ(stack.frames.size(), 5u);
  EXPECT_EQ(stack.frames[2].address.value, taken);
  EXPECT_EQ(stack.frames[3].address.value, in_caller());
  EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
}

TEST_F(StackWalk, TrapFrameLayoutFromUserCodeEndsTheStack) {
  const std::uint64_t entry = at("interrupt_handler");
  TrapFrameLayout layout{.start = {entry}, .end = {entry + 4}};
  layout.frame.save(kRip, 0).save(kCs, 8).save(kRsp, 0x18);
  start(at("leaf"), kStack);
  piece(kStack, {entry + 2, 0x7f0000001000, 0x33, 0x202, 0x7ffe00000000, 0x2b});
  const Stack stack = unwind({.entries = {layout}});
  EXPECT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(stack.stop, StopReason::kUserMode);
  EXPECT_EQ(stack.frames[0].kind, FrameKind::kKernel);
}

TEST_F(StackWalk, TrapFrameLayoutThatEnds) {
  const std::uint64_t entry = at("interrupt_handler");
  start(at("leaf"), kStack);
  piece(kStack, {entry + 2});
  const TrapFrameLayout layout{
      .start = {entry}, .end = {entry + 4}, .below = TrapFrameLayout::Below::kNothing};
  const Stack stack = unwind({.entries = {layout}});
  EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
  EXPECT_FALSE(stack.frames.back().exact);
}

// A new thread's stack begins with its first function's address as if that had been called.
TEST_F(StackWalk, FirstFunctionOfAStackIsNotBehindACall) {
  const std::uint64_t entry = at("interrupt_handler");
  start(at("leaf"), kStack);
  piece(kStack, {entry});
  const TrapFrameLayout layout{
      .start = {entry}, .end = {entry + 4}, .below = TrapFrameLayout::Below::kNothing};
  for (const bool full_only : {false, true}) {
    const Stack stack = unwind({.entries = {layout}, .full_only = full_only});
    EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
    ASSERT_EQ(stack.frames.size(), 2u);
    EXPECT_TRUE(stack.frames.back().exact);
  }
}

TEST_F(StackWalk, TrapFrameLayoutToACaller) {
  const std::uint64_t entry = at("leaf");  // whose table says that the caller is right on top
  const TrapFrameLayout layout{.start = {entry},
                               .end = {entry + 1},
                               .below = TrapFrameLayout::Below::kCaller,
                               .base_offset = 16};
  start(entry, kStack);
  piece(kStack, joined({{in_caller(), at("_start") + 9}, frame(at("_start") + 9)}));
  EXPECT_EQ(unwind().frames.at(1).address, GuestVirt{in_caller()});
  for (const bool full_only : {false, true}) {
    const Stack stack = unwind({.entries = {layout}, .full_only = full_only});
    ASSERT_EQ(stack.frames.size(), 2u);
    EXPECT_EQ(stack.frames[1].address, GuestVirt{at("_start") + 9});
  }
}

// Entry code that pushes registers for its caller, with the return address in rsi: what it has not
// pushed yet is still in the registers.
TEST_F(StackWalk, TrapFrameLayoutOfCodeThatPushesForItsCaller) {
  const std::uint64_t saver = at("leaf");
  const std::uint64_t stub = at("interrupt_handler") + 2;
  TrapFrameLayout pushes{.start = {saver},
                         .end = {saver + 1},
                         .below = TrapFrameLayout::Below::kCaller,
                         .base_offset = -16,  // two words are to come
                         .return_in = kRsi,
                         .overrides = true};
  TrapFrameLayout pushed{.start = {stub}, .end = {stub + 1}, .overrides = true};
  pushed.frame.save(kRbp, 0).save(kRbx, 8).save(kR12, 16).save(kRip, 24).save(kCs, 32);
  pushed.frame.save(kRsp, 48);
  start(saver, kStack);
  capture_.registers.set(kRsi, stub);
  capture_.registers.set(kRbp, kOtherStack);
  // The interrupted code finds its caller by rbp.
  const std::uint64_t interrupted = at("recursive");
  piece(kStack, {0x12, interrupted, 0x10, 0x202, kOtherStack - 8, 0x18});
  piece(kOtherStack, {0, at("_start") + 9}, wire::PieceKind::kInterruptedStack);
  const TrapFrameLayout by_rbp{.start = {interrupted},
                               .end = {interrupted + 1},
                               .below = TrapFrameLayout::Below::kCaller,
                               .base = TrapFrameLayout::Base::kFramePointer,
                               .base_offset = 16,
                               .overrides = true};
  for (const bool full_only : {false, true}) {
    const Stack stack = unwind({.entries = {pushes, pushed, by_rbp}, .full_only = full_only});
    ASSERT_EQ(stack.frames.size(), 4u) << name_of(stack.stop);
    EXPECT_EQ(stack.frames[1].address, GuestVirt{stub});
    EXPECT_EQ(stack.frames[2].address, GuestVirt{interrupted});
    EXPECT_EQ(stack.frames[3].address, GuestVirt{at("_start") + 9});
  }
}

TEST_F(StackWalk, TrapFrameLayoutSkipsWhatFillsTheReturnStack) {
  const std::uint64_t entry = at("leaf");
  const TrapFrameLayout layout{.start = {entry},
                               .end = {entry + 2},
                               .below = TrapFrameLayout::Below::kCaller,
                               .base_offset = 16,
                               .overrides = true,
                               .skips_own_words = true};
  start(entry, kStack);
  piece(kStack, {entry + 1, entry + 1, 0x1234, at("_start") + 9});
  const Stack stack = unwind({.entries = {layout}});
  ASSERT_EQ(stack.frames.size(), 2u);
  EXPECT_EQ(stack.frames[1].address, GuestVirt{at("_start") + 9});
}

// The layout is none that compact rules can express; below it they go on.
TEST_F(StackWalk, WalksFastAgainBehindASlowFrame) {
  const std::uint64_t entry = at("leaf");
  const TrapFrameLayout layout{.start = {entry},
                               .end = {entry + 2},
                               .below = TrapFrameLayout::Below::kCaller,
                               .base_offset = 8,
                               .overrides = true,
                               .skips_own_words = true};
  start(entry, kStack);
  piece(kStack, joined({{entry + 1, in_caller()},
                        frame(in_caller()),
                        frame(in_caller()),
                        frame(at("_start") + 9)}));
  Unwinder unwinder(images_, {.entries = {layout}});
  const Stack stack = unwinder.unwind(capture_);
  EXPECT_EQ(stack.frames, unwind({.entries = {layout}, .full_only = true}).frames);
  EXPECT_EQ(stack.frames.size(), 5u);
  EXPECT_EQ(stack.stop, StopReason::kEndOfStack);
  EXPECT_EQ(unwinder.statistics().slow_stacks, 1u);
  EXPECT_EQ(unwinder.statistics().slow_frames, 1u);
}

// The fast walk's frames are discarded with all that it derived from them: below the frame that it
// takes for an interrupt's there is none.
TEST_F(StackWalk, GivesUpBehindAnInterrupt) {
  const std::uint64_t entry = at("interrupt_handler");
  TrapFrameLayout layout{.start = {entry}, .end = {entry + 4}};
  layout.frame.save(kRip, 0).save(kCs, 8).save(kRsp, 0x18);
  start(at("leaf"), kStack);
  piece(kStack, {entry + 2, in_caller(), 0x10, 0x202, kStack + 4096, 0x18});
  const Stack fast = unwind({.entries = {layout}});
  const Stack full = unwind({.entries = {layout}, .full_only = true});
  EXPECT_EQ(fast.frames, full.frames);
  EXPECT_EQ(fast.frames.size(), 3u);
  EXPECT_EQ(fast.frames[1].kind, FrameKind::kInterrupt);
  EXPECT_EQ(fast.stop, full.stop);
  EXPECT_EQ(fast.stop, StopReason::kNotCopied);
}

TEST_F(StackWalk, TrapFrameLayoutAboveUserCode) {
  const std::uint64_t entry = at("leaf");
  start(entry, kStack);
  piece(kStack, {0});
  const TrapFrameLayout layout{.start = {entry},
                               .end = {entry + 1},
                               .below = TrapFrameLayout::Below::kUser,
                               .overrides = true};
  for (const bool full_only : {false, true})
    EXPECT_EQ(unwind({.entries = {layout}, .full_only = full_only}).stop, StopReason::kUserMode);
}

TEST_F(StackWalk, SignalFrameFromUserCodeEndsTheStack) {
  start(at("interrupt_entry"), kStack);
  piece(kStack, {0x7f0000001000, 0x33, 0x202, 0x7ffe00000000, 0x2b});
  const Stack stack = unwind();
  EXPECT_EQ(stack.frames.size(), 1u);
  EXPECT_EQ(stack.stop, StopReason::kUserMode);
}

class UserEntryTest : public StackWalk {
 protected:
  static constexpr std::uint64_t kUserPc = 0x401234;
  static constexpr std::uint64_t kUserSp = 0x7ffe0000a008;

  [[nodiscard]] UserEntry entry(Options options = {}) const {
    return Unwinder(images_, std::move(options)).user_entry(capture_);
  }
  static void expect_user(const UserEntry& entry) {
    EXPECT_TRUE(entry.registers.has(kRip));
    EXPECT_EQ(entry.registers.get(kRip), kUserPc);
    EXPECT_TRUE(entry.registers.has(kRsp));
    EXPECT_EQ(entry.registers.get(kRsp), kUserSp);
    EXPECT_FALSE(entry.truncated);
  }
  [[nodiscard]] static std::vector<std::uint64_t> hardware_frame() {
    return {kUserPc, 0x33, 0x202, kUserSp, 0x2b};
  }
};

// By call-frame information, and by carrying out the instructions.
TEST_F(UserEntryTest, AtTheFirstInstructionAllRegistersAreUserCodes) {
  start(at("interrupt_entry"), kStack);
  capture_.registers.set(kRbp, 0x7ffe0000a100);
  capture_.registers.set(kR12, 12);
  piece(kStack, hardware_frame());
  for (const bool cfi : {true, false}) {
    const UserEntry found = entry({.tables = {.cfi = cfi}});
    expect_user(found);
    EXPECT_EQ(found.sp_slot, GuestVirt{kStack + 24});
    EXPECT_FALSE(found.by_system_call);
    EXPECT_EQ(found.registers.get(kRbp), 0x7ffe0000a100u);
    EXPECT_EQ(found.registers.get(kR12), 12u);
    EXPECT_FALSE(found.registers.has(kR13));  // was not captured
    EXPECT_FALSE(found.registers.has(kRax));  // no frame is found by it
  }
}

// On the interrupt stack: eleven registers are saved on the one that was left, r12 the lowest.
TEST_F(UserEntryTest, FarFromTheEntrySavedRegistersAreRead) {
  const Bytes code = file_->bytes_at(file_->symbol_named("interrupt_entry")->address, 128);
  std::size_t pop = 5;  // pop %rsp, behind a call
  while (pop < code.size() && (code[pop] != std::byte{0x5c} || code[pop - 5] != std::byte{0xe8}))
    ++pop;
  start(at("leaf"), kStack);
  capture_.registers.set(kRbx, kOtherStack);
  capture_.registers.set(kRbp, 0x7ffe0000a100);
  capture_.registers.set(kR12, 1);
  piece(kStack, {at("interrupt_entry") + pop, kOtherStack});
  std::vector<std::uint64_t> saved(11);
  saved[0] = 12;
  saved[7] = 3;  // rbx
  piece(kOtherStack, joined({saved, hardware_frame()}), wire::PieceKind::kInterruptedStack);
  for (const bool cfi : {true, false}) {
    ASSERT_EQ(unwind({.tables = {.cfi = cfi}}).stop, StopReason::kUserMode);
    const UserEntry found = entry({.tables = {.cfi = cfi}});
    expect_user(found);
    EXPECT_EQ(found.sp_slot, GuestVirt{kOtherStack + 14 * 8});
    EXPECT_EQ(found.registers.get(kR12), 12u);
    EXPECT_EQ(found.registers.get(kRbx), 3u);
  }
}

// Where the stack ends the code says what it gives back.
TEST_F(UserEntryTest, AfterASystemCallTheWayBackShows) {
  const std::uint64_t behind_call = at("restores_user_code") + 1;
  start(at("leaf"), kStack);
  capture_.registers.set(kR12, 12);
  piece(kStack, {behind_call, 3, kUserPc, 0, kUserSp});
  EXPECT_EQ(unwind().stop, StopReason::kEndOfStack);
  for (const bool cfi : {true, false}) {
    const UserEntry found = entry({.tables = {.cfi = cfi}});
    expect_user(found);
    EXPECT_TRUE(found.by_system_call);
    EXPECT_EQ(found.sp_slot, GuestVirt{kStack + 32});
    EXPECT_EQ(found.registers.get(kRbx), 3u);
    EXPECT_EQ(found.registers.get(kR12), 12u);
  }
}

// The slot is where it lies now. A register may hold the same.
TEST_F(UserEntryTest, TheWayBackMayLeadOverAnotherStack) {
  start(at("leaf"), kStack);
  piece(kStack, joined({{at("copies_user_frame") + 1, kUserSp}, hardware_frame()}));
  for (const bool cfi : {true, false}) {
    const UserEntry found = entry({.tables = {.cfi = cfi}});
    expect_user(found);
    EXPECT_FALSE(found.by_system_call);
    EXPECT_EQ(found.sp_slot, GuestVirt{kStack + 40});
    EXPECT_EQ(found.registers.get(kRbx), kUserSp);
  }
}

TEST_F(UserEntryTest, WhatWasNotCopiedIsNotKnown) {
  start(at("leaf"), kStack);
  piece(kStack, {at("restores_user_code") + 1, 3, kUserPc});
  const UserEntry found = entry();
  EXPECT_TRUE(found.truncated);
  EXPECT_EQ(found.sp_slot, std::nullopt);
  EXPECT_EQ(found.registers.get(kRip), kUserPc);
  EXPECT_FALSE(found.registers.has(kRsp));
}

// sysexit takes the pc from edx and the stack pointer from ecx.
TEST(UserEntryOnI386, TheWayBackShows) {
  constexpr std::uint64_t kBias = 0xb0000000;
  constexpr std::uint64_t kSp = 0xc1000000;
  const auto file = elf::ElfFile::open(RINGSIDE_STEP_PROGRAMS "/step_i386_gcc_debug_frame");
  ASSERT_TRUE(file) << file.error().message;
  elf::ImageMap images;
  images.add({.id = 1, .name = "kernel", .file = *file, .load_bias = kBias});
  wire::Capture capture;
  capture.arch = Arch::kI386;
  capture.level = PrivilegeLevel::kKernel;
  const GuestVirt entry{(*file)->symbol_named("restores_user_code")->address.value + kBias};
  capture.registers.set(arch::i386::kEip, entry.value);
  capture.registers.set(arch::i386::kEsp, kSp);
  capture.registers.set(arch::i386::kEbp, 0xbf001100);
  const std::vector<std::uint32_t> words = {3, 0x8049123, 0, 0xbf001000};
  const auto bytes = std::as_bytes(std::span(words));
  capture.pieces.push_back({{kSp}, wire::PieceKind::kCurrentStack, 16, 0, 16});
  capture.bytes.assign(bytes.begin(), bytes.end());
  const UserEntry found = Unwinder(images).user_entry(capture);
  EXPECT_TRUE(found.by_system_call);
  EXPECT_EQ(found.registers.get(arch::i386::kEip), 0x8049123u);
  EXPECT_EQ(found.registers.get(arch::i386::kEsp), 0xbf001000u);
  EXPECT_EQ(found.registers.get(arch::i386::kEbx), 3u);
  EXPECT_EQ(found.registers.get(arch::i386::kEbp), 0xbf001100u);
  EXPECT_EQ(found.sp_slot, GuestVirt{kSp + 12});
}

TEST_F(UserEntryTest, NothingIsMadeUp) {
  // Threads of the kernel end elsewhere.
  start(at("leaf"), kStack);
  piece(kStack, joined({{in_caller()}, frame(at("_start") + 9)}));
  EXPECT_FALSE(entry().registers.has(kRip));
  // A frame that is filled in later.
  capture_.pieces.clear();
  capture_.bytes.clear();
  start(at("restores_user_code"), kStack);
  piece(kStack, {0, 0, 0, 0});
  EXPECT_FALSE(entry().registers.has(kRsp));
  // An interrupt of the kernel.
  capture_.pieces.clear();
  capture_.bytes.clear();
  start(at("interrupt_entry"), kStack);
  piece(kStack, {in_caller(), 0x10, 0x202, kStack + 40, 0x18, 0, 0, 0, 0, 0, at("_start") + 9});
  EXPECT_FALSE(entry().registers.has(kRip));
  // User code, firmware and nothing.
  capture_.level = PrivilegeLevel::kUser;
  EXPECT_FALSE(entry().registers.has(kRip));
  capture_ = {};
  EXPECT_FALSE(entry().registers.has(kRip));
}

TEST_F(StackWalk, WrongReturnAddresses) {
  start(at("leaf"), kStack);
  piece(kStack, {0x1234567});
  EXPECT_EQ(unwind().stop, StopReason::kBadAddress);
  capture_.pieces.clear();
  piece(kStack, {0});
  EXPECT_EQ(unwind().stop, StopReason::kEndOfStack);
}

TEST_F(StackWalk, RecursionWithoutEndIsBounded) {
  start(at("leaf"), kStack);
  std::vector<std::uint64_t> words{in_caller()};
  for (int i = 0; i < 700; ++i)
    for (const std::uint64_t word : frame(in_caller())) words.push_back(word);
  piece(kStack, words);
  const Stack stack = unwind();
  EXPECT_EQ(stack.frames.size(), 512u);
  EXPECT_EQ(stack.stop, StopReason::kTooDeep);
}

TEST_F(StackWalk, MisalignedStackPointer) {
  start(at("leaf"), kStack + 4);
  piece(kStack, {in_caller() << 32, in_caller() >> 32, 0, 0});
  EXPECT_EQ(unwind().stop, StopReason::kNotAdvancing);
}

// Linux's vectors on arm64 add x0 to it: what lies below the sum has been saved all the same.
TEST_F(StackWalk, AStackPointerThatIsNoneHidesNothing) {
  start(at("leaf"), kStack + 0x100);
  piece(kStack, {kStack + 0x40, in_caller()});
  const StackMemory memory(capture_, images_);
  MachineState frame;
  frame.set(kRip, at("leaf"));
  frame.set(kRbp, kStack);
  const Step step = apply(frame_pointer_rule(arch::kX86_64Info), {}, frame, memory);
  const auto* caller = std::get_if<Caller>(&step);
  ASSERT_NE(caller, nullptr);
  EXPECT_EQ(caller->state.pc().value, in_caller());
  EXPECT_EQ(caller->state.get(kRbp), kStack + 0x40);
}

TEST_F(StackWalk, UserFirmwareAndNothing) {
  start(0x401000, kStack);
  capture_.level = PrivilegeLevel::kUser;
  Stack stack = unwind();
  EXPECT_EQ(stack.frames.at(0).kind, FrameKind::kUser);
  EXPECT_EQ(stack.stop, StopReason::kUser);
  capture_.level = PrivilegeLevel::kKernel;
  stack = unwind({.kernel_seen = false});
  EXPECT_EQ(stack.frames.at(0).kind, FrameKind::kFirmware);
  EXPECT_EQ(stack.stop, StopReason::kFirmware);
  EXPECT_EQ(unwind().stop, StopReason::kNoRule);
  capture_.level = PrivilegeLevel::kGuest;
  stack = unwind();
  ASSERT_EQ(stack.frames.size(), 1u);
  EXPECT_EQ(stack.frames[0].kind, FrameKind::kGuest);
  EXPECT_EQ(stack.stop, StopReason::kUser);
  capture_.registers = {};
  EXPECT_EQ(unwind().stop, StopReason::kNoRegisters);
  EXPECT_TRUE(unwind().frames.empty());
}

}  // namespace
}  // namespace ringside::unwind
