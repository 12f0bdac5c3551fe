#include "guestos/linux/i386/entries.h"

#include <gtest/gtest.h>

namespace ringside::guestos {
namespace {

using namespace arch::i386;
using unwind::TrapFrameLayout;
using Below = TrapFrameLayout::Below;

class I386Entries : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto file = elf::ElfFile::open(RINGSIDE_I386_ENTRIES_PROGRAM);
    ASSERT_TRUE(file) << file.error().message;
    image_ = {.id = 1, .name = "kernel", .file = *file, .load_bias = 0};
    entries_ = i386_entries(image_);
  }
  [[nodiscard]] GuestVirt at(const std::string& name) const {
    return image_.to_guest(image_.file->symbol_named(name)->address);
  }
  [[nodiscard]] const TrapFrameLayout* layout_of(const std::string& name) const {
    for (const TrapFrameLayout& entry : entries_)
      if (at(name) - entry.start < entry.end - entry.start) return &entry;
    return nullptr;
  }

  elf::Image image_;
  std::vector<TrapFrameLayout> entries_;
};

TEST_F(I386Entries, TheFrameOfATaskThatDidNotRun) {
  for (const char* place : {"at_on_the_new_stack", "at_before_the_filling", "at_in_the_filling",
                            "at_behind_the_filling"}) {
    const TrapFrameLayout* layout = layout_of(place);
    ASSERT_NE(layout, nullptr) << place;
    EXPECT_EQ(layout->below, Below::kCaller);
    EXPECT_TRUE(layout->overrides);
    EXPECT_TRUE(layout->skips_own_words);
    EXPECT_EQ(layout->base_offset, 6 * 4);  // the return address, four registers and the flags
    EXPECT_EQ(layout->frame.offsets[kEbp], -2 * 4);
    EXPECT_EQ(layout->frame.offsets[kEbx], -3 * 4);
    EXPECT_EQ(layout->frame.offsets[kEdi], -4 * 4);
    EXPECT_EQ(layout->frame.offsets[kEsi], -5 * 4);
  }
  EXPECT_EQ(layout_of("at_on_the_old_stack"), nullptr);
}

TEST_F(I386Entries, RegistersThatArePopped) {
  const TrapFrameLayout* layout = layout_of("at_behind_the_flags");
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->base_offset, 5 * 4);
  EXPECT_EQ(layout->frame.offsets[kEsi], -5 * 4);
  layout = layout_of("at_behind_edi");
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->base_offset, 3 * 4);
  EXPECT_FALSE(layout->frame.saves(kEdi));
  EXPECT_EQ(layout->frame.offsets[kEbx], -3 * 4);
  layout = layout_of("at_behind_all_pops");
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->base_offset, 4);
  EXPECT_FALSE(layout->frame.saves(kEbp));
}

TEST_F(I386Entries, HandlersAreCalledAbovePtRegs) {
  const TrapFrameLayout* layout = layout_of("at_behind_the_handler");
  ASSERT_NE(layout, nullptr);
  EXPECT_EQ(layout->below, Below::kInterrupted);
  EXPECT_TRUE(layout->calls_only);
  EXPECT_EQ(layout->frame.offsets[kEip], 48);
}

TEST_F(I386Entries, ThreadsBegin) {
  for (const char* place : {"at_behind_the_first_call", "at_for_kernel_threads"}) {
    const TrapFrameLayout* layout = layout_of(place);
    ASSERT_NE(layout, nullptr) << place;
    EXPECT_EQ(layout->below, Below::kNothing) << place;
  }
  const TrapFrameLayout* to_user = layout_of("at_on_the_way_to_user");
  ASSERT_NE(to_user, nullptr);
  EXPECT_EQ(to_user->below, Below::kInterrupted);
  EXPECT_TRUE(to_user->calls_only);
  EXPECT_EQ(to_user->frame.offsets[kCs], 52);
}

}  // namespace
}  // namespace ringside::guestos
