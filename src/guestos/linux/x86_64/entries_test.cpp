#include "guestos/linux/x86_64/entries.h"

#include <gtest/gtest.h>

#include "arch/arch_info.h"

namespace ringside::guestos {
namespace {

using namespace arch::x86_64;
using unwind::TrapFrameLayout;
using Below = TrapFrameLayout::Below;

constexpr std::uint64_t kBias = 0xffffffff80000000;

class X86_64Entries : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = elf::ElfFile::open(RINGSIDE_ENTRIES_PROGRAM);
    ASSERT_TRUE(file) << file.error().message;
    image_ = {.id = 1, .name = "kernel", .file = *file, .load_bias = kBias};
    entries_ = x86_64_entries(image_);
  }
  [[nodiscard]] GuestVirt at(const std::string& name) const {
    return image_.to_guest(image_.file->symbol_named(name)->address);
  }
  // The only layout of a place.
  [[nodiscard]] const TrapFrameLayout& layout_of(const std::string& name) const {
    const TrapFrameLayout* found = nullptr;
    for (const TrapFrameLayout& entry : entries_) {
      if (at(name) - entry.start >= entry.end - entry.start) continue;
      // Two names of one piece of code may say the same twice.
      EXPECT_TRUE(found == nullptr || (found->start == entry.start && found->end == entry.end))
          << name;
      found = &entry;
    }
    static const TrapFrameLayout kNone{.below = Below::kNothing, .calls_only = true};
    return found == nullptr ? kNone : *found;
  }

  elf::Image image_;
  std::vector<TrapFrameLayout> entries_;
};

TEST_F(X86_64Entries, StubsLeavePtRegsBehindTheCallThatSavesThem) {
  for (const char* place : {"at_behind_the_saver", "at_behind_the_handler",
                            "at_behind_the_paranoid", "at_behind_the_other_saver"}) {
    const TrapFrameLayout& behind = layout_of(place);
    EXPECT_EQ(behind.below, Below::kInterrupted);
    EXPECT_TRUE(behind.overrides);
    EXPECT_FALSE(behind.calls_only);
    EXPECT_EQ(behind.base_offset, 0);
    EXPECT_EQ(behind.frame.offsets[kRip], 0x80);  // struct pt_regs
    EXPECT_EQ(behind.frame.offsets[kRbp], 0x20);
    EXPECT_EQ(behind.frame.offsets[kRsp], 0x98);
  }
}

// Intel SDM volume 3, 6.14: rip, cs, rflags, rsp, ss, on top of which some exceptions put an error
// code; the entries of others, and of interrupts, push a word in its place.
TEST_F(X86_64Entries, HardwaresFrameUntilPtRegsAreThere) {
  const std::pair<const char*, std::int16_t> places[] = {
      {"asm_exc_page_fault", 8},     {"at_before_the_saver", 8},
      {"irq_entries_start", 0},      {"at_behind_the_vector", 8},
      {"at_second_vector", 0},       {"asm_common_interrupt", 8},
      {"at_vector_is_pushed", 8},    {"asm_sysvec_call_function", 0},
      {"at_hardware_has_pushed", 0}, {"at_word_is_pushed", 8},
      {"asm_exc_int3", 0},           {"at_one_word_copied", 16},
      {"at_frame_copied", 8},        {"asm_exc_debug", 0},
      {"at_the_other_saver", 8},
  };
  for (const auto& [place, offset] : places) {
    const TrapFrameLayout& layout = layout_of(place);
    EXPECT_EQ(layout.below, Below::kInterrupted) << place;
    EXPECT_EQ(layout.base_offset, offset) << place;
    EXPECT_TRUE(layout.keeps_registers) << place;
    EXPECT_FALSE(layout.overrides) << place;
    EXPECT_FALSE(layout.calls_only) << place;
    EXPECT_EQ(layout.frame.offsets[kRip], 0) << place;
    EXPECT_EQ(layout.frame.offsets[kCs], 8) << place;
    EXPECT_EQ(layout.frame.offsets[kRsp], 24) << place;
  }
  EXPECT_TRUE(layout_of("at_unknown_entry").calls_only);
}

// The caller's stack pointer will be 14 words below the slot of the return address, which is that
// of rdi in struct pt_regs.
TEST_F(X86_64Entries, CodeThatPushesForItsCaller) {
  const TrapFrameLayout& first = layout_of("error_entry");
  EXPECT_EQ(first.below, Below::kCaller);
  EXPECT_EQ(first.base_offset, -14 * 8);
  EXPECT_EQ(first.frame.offsets[kRip], 14 * 8);
  const TrapFrameLayout& slot = layout_of("at_return_address_in_its_slot");
  EXPECT_EQ(slot.base_offset, -13 * 8);
  EXPECT_EQ(slot.frame.offsets[kRip], 14 * 8);
  const TrapFrameLayout& in_rsi = layout_of("at_return_address_in_rsi");
  EXPECT_EQ(in_rsi.base_offset, -13 * 8);
  EXPECT_EQ(in_rsi.return_in, kRsi);
  EXPECT_FALSE(in_rsi.frame.saves(kRip));
  EXPECT_EQ(layout_of("at_two_more_are_pushed").base_offset, -11 * 8);
  const TrapFrameLayout& all = layout_of("at_all_is_pushed");
  EXPECT_EQ(all.below, Below::kCaller);
  EXPECT_EQ(all.base_offset, 8);
  EXPECT_EQ(all.return_in, arch::RegisterRoles::kNone);
  for (const TrapFrameLayout* layout : {&first, &slot, &in_rsi, &all})
    EXPECT_TRUE(layout->overrides);
}

TEST_F(X86_64Entries, TheExitPathToUserModeHasUserCodeBelow) {
  EXPECT_EQ(layout_of("common_interrupt_return").below, Below::kUser);
  EXPECT_EQ(layout_of("at_on_the_entry_stack").below, Below::kUser);
  EXPECT_TRUE(layout_of("at_on_the_entry_stack").overrides);
  EXPECT_TRUE(layout_of("restore_regs_and_return_to_kernel").calls_only);  // none
}

TEST_F(X86_64Entries, SystemCallsHaveUserCodeBelow) {
  for (const char* place : {"entry_SYSCALL_64", "at_behind_the_system_call"}) {
    EXPECT_EQ(layout_of(place).below, Below::kUser);
    EXPECT_TRUE(layout_of(place).overrides);
  }
}

TEST_F(X86_64Entries, FillingOfTheReturnStack) {
  for (const char* place : {"at_before_the_filling", "at_in_the_filling"}) {
    const TrapFrameLayout& layout = layout_of(place);
    EXPECT_EQ(layout.below, Below::kCaller);
    EXPECT_TRUE(layout.skips_own_words);
    EXPECT_EQ(layout.base_offset, 7 * 8);  // the return address and six registers
    EXPECT_EQ(layout.frame.offsets[kRbp], -2 * 8);
    EXPECT_EQ(layout.frame.offsets[kR15], -7 * 8);
    EXPECT_EQ(layout.end, at("at_behind_the_filling"));
  }
}

TEST_F(X86_64Entries, ThreadsBegin) {
  EXPECT_EQ(layout_of("ret_from_fork").below, Below::kNothing);
  EXPECT_FALSE(layout_of("ret_from_fork").calls_only);
}

TEST_F(X86_64Entries, Retpolines) {
  EXPECT_EQ(layout_of("__x86_indirect_thunk_rax").base_offset, 8);
  EXPECT_EQ(layout_of("at_in_the_retpoline").base_offset, 16);
  EXPECT_EQ(layout_of("__x86_indirect_its_thunk_rcx").base_offset, 8);
  for (const char* place : {"__x86_indirect_thunk_rax", "at_in_the_retpoline"}) {
    EXPECT_EQ(layout_of(place).below, Below::kCaller);
    EXPECT_TRUE(layout_of(place).overrides);
  }
}

}  // namespace
}  // namespace ringside::guestos
