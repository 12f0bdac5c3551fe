// ORC entries made by hand from Linux's asm/orc_types.h of each format; tests/guest compares whole
// tables with call-frame information.

#include <gtest/gtest.h>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "unwind/orc/table.h"

namespace ringside::unwind::orc {
namespace {

using namespace arch::x86_64;

// sp_offset, bp_offset and the flags, as they lie in memory.
constexpr std::uint64_t raw(std::int16_t sp, std::int16_t bp, std::uint16_t flags) {
  return static_cast<std::uint16_t>(sp) | std::uint64_t{static_cast<std::uint16_t>(bp)} << 16 |
         std::uint64_t{flags} << 32;
}

TEST(OrcEntry, CallFrameOnTheStackPointer) {
  // sp:sp+16 bp:prevsp-16 type:call: sp_reg 5, bp_reg 1.
  const auto rule = rule_of(decode(raw(16, -16, 0x015), Format::kEndBit));
  ASSERT_TRUE(rule);
  EXPECT_EQ(rule->cfa.kind, CfaRule::Kind::kRegisterOffset);
  EXPECT_EQ(rule->cfa.reg, kRsp);
  EXPECT_EQ(rule->cfa.offset, 16);
  EXPECT_EQ(rule->registers[kRip].offset, -8);
  EXPECT_EQ(rule->registers[kRbp].offset, -16);
  EXPECT_FALSE(rule->signal_frame);
  // The same entry in the format of 6.4, where a call is type 2.
  const auto newer = rule_of(decode(raw(16, -16, 0x215), Format::kTypes));
  ASSERT_TRUE(newer);
  EXPECT_EQ(newer->cfa.offset, 16);
}

TEST(OrcEntry, RegisterFrames) {
  const auto full = rule_of(decode(raw(0, 0, 0x105), Format::kEndBit));
  ASSERT_TRUE(full);
  EXPECT_TRUE(full->signal_frame);
  EXPECT_EQ(full->registers[kR15].offset, 0);
  EXPECT_EQ(full->registers[kRbp].offset, 0x20);
  EXPECT_EQ(full->registers[kRip].offset, 0x80);
  EXPECT_EQ(full->registers[kRsp].offset, 0x98);
  const auto partial = rule_of(decode(raw(8, 0, 0x205), Format::kEndBit));
  ASSERT_TRUE(partial);
  EXPECT_EQ(partial->cfa.offset, 8);
  EXPECT_EQ(partial->registers[kRip].offset, 0);
  EXPECT_EQ(partial->registers[kRsp].offset, 0x18);
  EXPECT_EQ(partial->registers[kRbp].kind, RegisterRule::Kind::kSame);
  // Since 6.4 the two are types 3 and 4.
  EXPECT_TRUE(rule_of(decode(raw(0, 0, 0x305), Format::kTypes))->signal_frame);
  EXPECT_EQ(rule_of(decode(raw(8, 0, 0x405), Format::kTypes))->registers[kRip].offset, 0);
}

TEST(OrcEntry, Ends) {
  EXPECT_TRUE(rule_of(decode(raw(0, 0, 0x400), Format::kEndBit))->ends);
  EXPECT_TRUE(rule_of(decode(raw(0, 0, 0x800), Format::kSignalAndEndBits))->ends);
  EXPECT_TRUE(rule_of(decode(raw(0, 0, 0x100), Format::kTypes))->ends);
  EXPECT_FALSE(rule_of(decode(raw(0, 0, 0x000), Format::kTypes)));
  EXPECT_FALSE(rule_of(decode(raw(0, 0, 0x000), Format::kEndBit)));
  // In 6.3 bit 10 is the signal, not the end.
  const auto signal = rule_of(decode(raw(8, 0, 0x405), Format::kSignalAndEndBits));
  ASSERT_TRUE(signal);
  EXPECT_FALSE(signal->ends);
  EXPECT_TRUE(signal->signal_frame);
}

TEST(OrcEntry, StackSwitchesAndOtherRegisters) {
  const auto indirect = rule_of(decode(raw(16, 0, 0x009), Format::kEndBit));
  ASSERT_TRUE(indirect);
  EXPECT_EQ(indirect->cfa.kind, CfaRule::Kind::kDereference);
  EXPECT_EQ(indirect->cfa.offset, 0);
  EXPECT_EQ(indirect->cfa.addend, 16);
  const CompactRule compact_indirect = compact(*indirect, arch::kX86_64Info);
  EXPECT_EQ(compact_indirect.kind, CompactRule::Kind::kCall);
  EXPECT_EQ(compact_indirect.base, CompactRule::Base::kOtherStack);
  EXPECT_EQ(compact_indirect.cfa_offset, 16);
  const auto bp = rule_of(decode(raw(-8, 0, 0x008), Format::kEndBit));
  EXPECT_EQ(bp->cfa.offset, -8);
  EXPECT_EQ(compact(*bp, arch::kX86_64Info).kind, CompactRule::Kind::kSlow);
  EXPECT_EQ(bp->cfa.addend, 0);
  EXPECT_EQ(rule_of(decode(raw(8, 0, 0x006), Format::kEndBit))->cfa.reg, kR10);
  EXPECT_EQ(rule_of(decode(raw(8, 0, 0x003), Format::kEndBit))->cfa.reg, kRdi);
  EXPECT_FALSE(rule_of(decode(raw(8, 0, 0x00f), Format::kEndBit)));
}

class OrcTable : public ::testing::Test {
 protected:
  void add(std::uint64_t address, std::uint64_t entry) {
    const auto place = kSection + ip_.size() * sizeof(std::int32_t);
    ip_.push_back(static_cast<std::int32_t>(address - place));
    for (int i = 0; i < 6; ++i) entries_.push_back(static_cast<std::byte>(entry >> (8 * i)));
  }
  [[nodiscard]] Result<Table> make() const {
    return Table::make(
        {.ip = std::as_bytes(std::span(ip_)), .address = {kSection}, .entries = entries_});
  }
  static constexpr std::uint64_t kSection = 0xffffffff82800000;
  static constexpr std::uint64_t kText = 0xffffffff81000000;
  std::vector<std::int32_t> ip_;
  std::vector<std::byte> entries_;
};

TEST_F(OrcTable, FindsTheRowThatHoldsAnAddress) {
  add(kText, raw(8, 0, 0x005));
  add(kText + 1, raw(16, -16, 0x015));
  add(kText + 9, raw(8, 0, 0x005));
  add(kText + 10, raw(0, 0, 0));
  const auto table = make();
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->find_compact({kText}).cfa_offset, 8);
  EXPECT_EQ(table->find_compact({kText + 1}).cfa_offset, 16);
  EXPECT_EQ(table->find_compact({kText + 8}).cfa_offset, 16);
  EXPECT_EQ(table->find_compact({kText + 9}).cfa_offset, 8);
  EXPECT_EQ(table->find_compact({kText + 12}).kind, CompactRule::Kind::kNone);
  EXPECT_EQ(table->find_compact({kText - 1}).kind, CompactRule::Kind::kNone);
  EXPECT_FALSE(table->find({kText + 12}));
  EXPECT_EQ(table->find({kText + 2})->cfa.offset, 16);
  EXPECT_EQ(table->size().entries, 4u);
}

TEST_F(OrcTable, PutsRowsInOrderAndJoinsEqualOnes) {
  add(kText + 32, raw(8, 0, 0x005));
  add(kText + 48, raw(0, 0, 0));
  add(kText, raw(8, 0, 0x005));
  add(kText + 16, raw(8, 0, 0x005));
  // The end of one function's code is the start of the next one's.
  add(kText + 48, raw(24, 0, 0x005));
  const auto table = make();
  ASSERT_TRUE(table);
  EXPECT_EQ(table->size().rows, 2u);
  EXPECT_EQ(table->find_compact({kText + 20}).cfa_offset, 8);
  EXPECT_EQ(table->find_compact({kText + 48}).cfa_offset, 24);
}

TEST_F(OrcTable, RejectsTablesThatDoNotBelongTogether) {
  EXPECT_FALSE(make());
  add(kText, raw(8, 0, 0x005));
  entries_.pop_back();
  const auto table = make();
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::kFormat);
}

}  // namespace
}  // namespace ringside::unwind::orc
