// The exit paths of the assembly in testdata/step_start.S, which is where the expected places come
// from.

#include "unwind/x86/exit_rule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::unwind::x86 {
namespace {

using Base = CompactRule::Base;
using Kind = CompactRule::Kind;
using Place = CompactRule::Place;

class ExitRule : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = elf::ElfFile::open(RINGSIDE_STEP_PROGRAMS "/step_gcc_fp_O1");
    ASSERT_TRUE(file) << file.error().message;
    image_ = {.id = 1, .name = "program", .file = *file, .load_bias = 0x1000000};
  }
  [[nodiscard]] CompactRule at(const char* symbol, std::uint64_t offset = 0) {
    return finder_.find(image_,
                        image_.to_guest(image_.file->symbol_named(symbol)->address) + offset);
  }
  // Where an instruction of one byte lies first in a function, from its start.
  [[nodiscard]] std::uint64_t offset_of(const char* symbol, unsigned byte) const {
    const Bytes code = image_.file->bytes_at(image_.file->symbol_named(symbol)->address, 256);
    return static_cast<std::uint64_t>(std::find(code.begin(), code.end(), std::byte(byte)) -
                                      code.begin());
  }

  elf::Image image_;
  Decoder decoder_{arch::kX86_64Info};
  CodeReader reader_{decoder_};
  ExitRuleFinder finder_{arch::kX86_64Info, reader_};
};

TEST_F(ExitRule, EntryStubBeforeAndBehindItsPushes) {
  const CompactRule first = at("interrupt_entry");
  EXPECT_EQ(first.kind, Kind::kFrame);
  EXPECT_EQ(first.base, Base::kStackPointer);
  EXPECT_EQ(first.cfa_offset + first.pc_offset, 0);
  EXPECT_EQ(first.cfa_offset + first.sp_offset, 24);
  EXPECT_EQ(first.cfa_offset + first.status_offset, 8);
  EXPECT_EQ(first.fp, Place::kSame);
  EXPECT_TRUE(first.checks_frame);
  const CompactRule two_pushed = at("interrupt_entry", 3);  // cld; push %rax; push %rcx
  EXPECT_EQ(two_pushed.cfa_offset + two_pushed.pc_offset, 16);
}

// pop %rsp comes back to the stack with the eleven registers.
TEST_F(ExitRule, OldStackPointerOnTopOfTheInterruptStack) {
  const std::uint64_t pop_rsp = offset_of("interrupt_entry", 0x5c);
  const CompactRule rule = at("interrupt_entry", pop_rsp);
  EXPECT_EQ(rule.kind, Kind::kFrame);
  EXPECT_EQ(rule.base, Base::kOtherStack);
  EXPECT_TRUE(rule.knows_links);
  EXPECT_EQ(rule.cfa_offset + rule.pc_offset, 11 * 8);
  EXPECT_EQ(at("interrupt_entry", pop_rsp + 1).base, Base::kStackPointer);
}

TEST_F(ExitRule, WaysOutThatAgree) {
  const CompactRule rule = at("ways_out_agree");
  EXPECT_EQ(rule.kind, Kind::kFrame);
  EXPECT_EQ(rule.cfa_offset + rule.pc_offset, 16);
  EXPECT_EQ(rule.fp, Place::kSaved);
  EXPECT_EQ(rule.cfa_offset + rule.fp_offset, 0);
  // The frame is copied, to a stack that nobody knows.
  const CompactRule copied = at("copies_the_frame");
  EXPECT_EQ(copied.kind, Kind::kFrame);
  EXPECT_EQ(copied.base, Base::kStackPointer);
  EXPECT_EQ(copied.cfa_offset + copied.pc_offset, 8);
}

TEST_F(ExitRule, ReturnsAndSystemReturns) {
  const CompactRule rule = at("returns_and_pops");
  EXPECT_EQ(rule.kind, Kind::kCall);
  EXPECT_EQ(rule.cfa_offset, 16 + 8 + 24);
  EXPECT_EQ(rule.cfa_offset + rule.pc_offset, 16);
  EXPECT_EQ(rule.sp, Place::kSame);
  EXPECT_FALSE(rule.checks_frame);
  EXPECT_EQ(at("returns_to_user_code").kind, Kind::kUser);
}

TEST_F(ExitRule, WhatOnlyAStackShows) {
  EXPECT_EQ(at("ways_out_differ").kind, Kind::kSlow);
  EXPECT_EQ(at("makes_its_own_frame").kind, Kind::kSlow);
  EXPECT_EQ(at("never_leaves").kind, Kind::kSlow);
  EXPECT_EQ(at("thunk_rcx", 5 + 2).kind, Kind::kSlow);
  // Behind the handler of a nested interrupt, rbx has the stack pointer.
  const std::uint64_t decl = offset_of("interrupt_entry", 0x5c) + 1;
  EXPECT_EQ(at("interrupt_entry", decl).kind, Kind::kFrame);
  // Outside of all code.
  EXPECT_EQ(finder_.find(image_, {0x10}).kind, Kind::kSlow);
}

}  // namespace
}  // namespace ringside::unwind::x86
