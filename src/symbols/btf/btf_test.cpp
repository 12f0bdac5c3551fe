#include "symbols/btf/btf.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>

#include "elf/elf_file.h"
#include "symbols/btf/testdata/structures.h"

namespace ringside::symbols {
namespace {

// testdata/structures.c, compiled with -gbtf; this file includes the same structures.
class BtfTest : public ::testing::Test {
 protected:
  std::shared_ptr<const elf::ElfFile> file_ = elf::ElfFile::open(RINGSIDE_BTF_OBJECT).value();
  Bytes bytes_ = file_->section(".BTF").value().bytes;
  Result<Btf> btf_ = Btf::parse(bytes_);

  [[nodiscard]] std::uint64_t offset(std::string_view path) const {
    const auto member = btf_->member("task_like", path);
    return member ? member->offset() : ~std::uint64_t{0};
  }
};

TEST_F(BtfTest, MembersAreWhereTheCompilerPutsThem) {
  ASSERT_TRUE(btf_) << btf_.error().message;
  EXPECT_EQ(offset("state"), offsetof(task_like, state));
  EXPECT_EQ(offset("comm"), offsetof(task_like, comm));
  EXPECT_EQ(offset("parent"), offsetof(task_like, parent));
  EXPECT_EQ(offset("nested.sp"), offsetof(task_like, nested.sp));
  EXPECT_EQ(offset("nested.c.y"), offsetof(task_like, nested.c.y));
  EXPECT_EQ(offset("in_union"), offsetof(task_like, in_union));
  EXPECT_EQ(offset("unnamed_inner"), offsetof(task_like, unnamed_inner));
  EXPECT_EQ(offset("usage.counter"), offsetof(task_like, usage.counter));
  EXPECT_EQ(offset("many"), offsetof(task_like, many));
  EXPECT_EQ(offset("colour"), offsetof(task_like, colour));
}

TEST_F(BtfTest, SizesAndBitFields) {
  EXPECT_EQ(btf_->size_of("task_like"), sizeof(task_like));
  EXPECT_EQ(btf_->size_of("counter_t"), sizeof(counter_t));
  EXPECT_EQ(btf_->size_of(btf_->member("task_like", "comm")->type), 16u);
  EXPECT_EQ(btf_->size_of(btf_->member("task_like", "many")->type), sizeof(task_like::many));
  EXPECT_EQ(btf_->size_of(btf_->member("task_like", "parent")->type), sizeof(void*));
  const auto narrow = btf_->member("task_like", "narrow");
  const auto wide = btf_->member("task_like", "wide");
  ASSERT_TRUE(narrow && wide);
  EXPECT_EQ(narrow->bit_size, 3u);
  EXPECT_EQ(wide->bit_size, 21u);
  EXPECT_EQ(wide->bit_offset, narrow->bit_offset + 3);
}

TEST_F(BtfTest, WhatIsNotThere) {
  EXPECT_FALSE(btf_->find("no_such_struct"));
  EXPECT_FALSE(btf_->member("task_like", "no_such_member"));
  EXPECT_FALSE(btf_->member("task_like", "parent.state"));  // through a pointer
  EXPECT_FALSE(btf_->member("task_like", ""));
  EXPECT_FALSE(btf_->member("task_like", "nested."));
  EXPECT_FALSE(btf_->size_of(0u));
  EXPECT_FALSE(btf_->size_of(1u << 30));
}

TEST_F(BtfTest, Enumerators) {
  EXPECT_EQ(btf_->enumerator("kRed"), 7);
  EXPECT_EQ(btf_->enumerator("kGreen"), -3);
  EXPECT_EQ(btf_->enumerator("kBlue"), 0x7fffffff);
  EXPECT_FALSE(btf_->enumerator("kYellow"));
}

TEST_F(BtfTest, IsFoundAmongOtherBytes) {
  std::vector<std::byte> memory(5000 + bytes_.size() + 3000);
  std::fill_n(memory.begin(), 5000, std::byte{0x9f});
  // A magic number that no types follow.
  const auto decoy = as_bytes(std::string_view("\x9f\xeb\x01\0\x18\0\0\0\xff\xff\xff\xff", 12));
  std::copy(decoy.begin(), decoy.end(), memory.begin() + 100);
  std::copy(bytes_.begin(), bytes_.end(), memory.begin() + 5000);
  EXPECT_EQ(find_btf(memory), 5000u);
  EXPECT_EQ(find_btf(memory, 5001), std::nullopt);
  EXPECT_EQ(Btf::parse(Bytes(memory).subspan(5000))->type_count(), btf_->type_count());
}

TEST_F(BtfTest, DamageIsAnErrorOrHarmless) {
  EXPECT_EQ(Btf::parse({}).error().message, "BTF: 0 bytes, less than a header");
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::byte> bytes(bytes_.begin(), bytes_.end());
    for (int i = 0; i < 4; ++i) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto btf = Btf::parse(bytes);
    if (!btf) continue;
    for (const char* path : {"unnamed_inner", "nested.c.y", "colour"})
      (void)btf->member("task_like", path);
    (void)btf->size_of("task_like");
    (void)btf->enumerator("kYellow");
  }
  for (std::size_t size = 0; size < bytes_.size(); ++size)
    EXPECT_FALSE(Btf::parse(bytes_.first(size)));
}

}  // namespace
}  // namespace ringside::symbols
