#include "guestos/linux/files/mappings.h"

#include <gtest/gtest.h>

#include <deque>

#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

constexpr unsigned long kPage = 4096;

// Linux's structures in the test's own memory, laid out by the compiler that wrote their BTF.
class Mappings : public ::testing::Test {
 protected:
  [[nodiscard]] static GuestVirt at(const void* object) {
    return {reinterpret_cast<std::uint64_t>(object)};
  }
  // include/linux/maple_tree.h: the type in bits 3 to 6, and bit 2 (MAPLE_ENODE_NULL).
  [[nodiscard]] static void* pointer_to(maple_node& node, unsigned type) {
    return reinterpret_cast<char*>(&node) + (type << 3 | 4);
  }
  void set_root(maple_node& node, unsigned type) {
    node.parent = reinterpret_cast<char*>(&mm_.mm_mt) + 1;                 // MA_ROOT_PARENT
    mm_.mm_mt.ma_root = reinterpret_cast<char*>(&node) + (type << 3 | 2);  // MAPLE_ROOT_NODE
  }
  vm_area_struct& add_vma(unsigned long start, unsigned long end, unsigned long flags = 1) {
    ++mm_.map_count;
    return vmas_.emplace_back(vm_area_struct{.vm_start = start,
                                             .vm_end = end,
                                             .padding = 0,
                                             .vm_mm = &mm_,
                                             .vm_flags = flags,
                                             .vm_ops = nullptr,
                                             .vm_pgoff = 0,
                                             .vm_file = nullptr,
                                             .vm_private_data = nullptr});
  }
  // A leaf from `start` on in which mappings of one page lie behind gaps of one page.
  void fill_leaf(maple_node& leaf, unsigned long start, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      const unsigned long begin = start + (2 * i + 1) * kPage;
      leaf.mr64.pivot[2 * i] = begin - 1;
      leaf.mr64.pivot[2 * i + 1] = begin + kPage - 1;
      leaf.mr64.slot[2 * i + 1] = &add_vma(begin, begin + kPage);
    }
  }
  [[nodiscard]] Result<std::vector<LinuxMapping>> read() {
    return read_mappings(types_, reader_, at(&mm_));
  }
  [[nodiscard]] std::string error() {
    const auto found = read();
    if (found) return "no error";
    EXPECT_EQ(found.error().code, ErrorCode::kDisturbed) << found.error().message;
    return found.error().message;
  }

  std::shared_ptr<const elf::ElfFile> file_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  std::unique_ptr<TypeSource> source_ = open_types(file_).value();
  LinuxTypes types_ = LinuxTypes::of(*file_, *source_).value();
  testing::OwnSpace own_memory_;
  KernelReader reader_{own_memory_, Arch::kX86_64};
  mm_struct mm_{};
  std::deque<vm_area_struct> vmas_;
  std::array<maple_node, 5> nodes_{};
};

TEST_F(Mappings, NoneAndOne) {
  EXPECT_TRUE(read()->empty());
  // mas_root_expand(): the first entry of a tree makes a leaf of it.
  maple_node& leaf = nodes_[0];
  set_root(leaf, 1);
  fill_leaf(leaf, 0x400000, 1);
  const auto found = read();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().start, GuestVirt{0x401000});
  EXPECT_EQ(found->front().end, GuestVirt{0x402000});
}

TEST_F(Mappings, WhatAMappingSays) {
  maple_node& leaf = nodes_[0];
  set_root(leaf, 1);
  fill_leaf(leaf, 0x400000, 4);
  int file = 0;
  const char name[] = "[vdso]";
  const vm_special_mapping special{nullptr, name};
  vmas_[1].vm_file = reinterpret_cast<struct file*>(&file);
  vmas_[1].vm_pgoff = 5;
  vmas_[1].__vm_flags = 0x75;
  vmas_[2].__vm_flags = 0x75;
  vmas_[2].vm_ops = &file;
  vmas_[2].vm_private_data = const_cast<vm_special_mapping*>(&special);
  vmas_[3].__vm_flags = 0x75;
  vmas_[3].vm_ops = &file;
  vmas_[3].vm_private_data = reinterpret_cast<void*>(8);  // of a driver's own
  const auto found = read();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 4u);
  EXPECT_EQ((*found)[0].name, "");
  EXPECT_FALSE((*found)[0].executable());
  EXPECT_EQ((*found)[1].file, at(&file));
  EXPECT_EQ((*found)[1].offset, FileOffset{5 * kPage});
  EXPECT_TRUE((*found)[1].executable());
  EXPECT_EQ((*found)[2].name, "[vdso]");
  EXPECT_EQ((*found)[3].name, "");
}

TEST_F(Mappings, TreeOfThreeLevels) {
  // arange_64 → range_64 and a leaf → leaves. The second leaf is full: its last slot has no pivot.
  auto& [root, inner, first, second, third] = nodes_;
  set_root(root, 3);
  root.ma64.pivot[0] = 0x7fffff;
  root.ma64.slot[0] = pointer_to(inner, 2);
  root.ma64.slot[1] = pointer_to(third, 1);
  inner.parent = &root;
  third.parent = reinterpret_cast<char*>(&root) + 0xe;
  inner.mr64.pivot[0] = 0x5fffff;
  inner.mr64.slot[0] = pointer_to(first, 1);
  inner.mr64.slot[1] = pointer_to(second, 1);
  first.parent = &inner;
  second.parent = reinterpret_cast<char*>(&inner) + 0xe;
  fill_leaf(first, 0x400000, 3);
  fill_leaf(second, 0x600000, 7);
  second.mr64.pivot[14] = 0x7fffff - kPage;
  second.mr64.slot[15] = &add_vma(0x7ff000, 0x800000);
  fill_leaf(third, 0x900000, 2);
  third.mr64.slot[5] = reinterpret_cast<void*>(0x1234500);  // behind the end: not looked at
  const auto found = read();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_EQ(found->size(), 13u);
  EXPECT_EQ((*found)[3].start, GuestVirt{0x601000});
  EXPECT_EQ((*found)[10].start, GuestVirt{0x7ff000});
  EXPECT_EQ((*found)[12].start, GuestVirt{0x903000});
}

TEST_F(Mappings, WhatDoesNotFitIsDisturbed) {
  maple_node& leaf = nodes_[0];
  set_root(leaf, 1);
  fill_leaf(leaf, 0x400000, 3);
  ASSERT_TRUE(read());
  mm_.map_count = 4;
  EXPECT_NE(error().find("has 4 mappings, and 3 were found"), std::string::npos);
  mm_.map_count = 2;
  EXPECT_NE(error().find("more than 2 entries"), std::string::npos);
  mm_.map_count = 3;
  vmas_[1].vm_end += kPage;
  EXPECT_NE(error().find("its place in the tree"), std::string::npos);
  vmas_[1].vm_end -= kPage;
  vmas_[1].vm_mm = nullptr;
  EXPECT_NE(error().find("holds no mapping"), std::string::npos);
  vmas_[1].vm_mm = &mm_;
  leaf.mr64.pivot[2] = 0x300000;
  EXPECT_NE(error().find("has the index 0x300000 outside"), std::string::npos);
  leaf.parent = &leaf;  // ma_dead_node()
  EXPECT_NE(error().find("was replaced"), std::string::npos);
}

TEST_F(Mappings, CycleAndWildPointer) {
  maple_node& root = nodes_[0];
  set_root(root, 2);
  mm_.map_count = 5;
  root.parent = &nodes_[1];
  root.mr64.pivot[0] = nodes_[1].mr64.pivot[0] = ~0ul;
  root.mr64.slot[0] = pointer_to(nodes_[1], 2);
  nodes_[1].parent = &root;
  nodes_[1].mr64.slot[0] = pointer_to(root, 2);
  EXPECT_NE(error().find("has no subtree for 0x0"), std::string::npos);
  root.mr64.slot[0] = reinterpret_cast<void*>(0xdead00000000030c);
  EXPECT_EQ(read().error().code, ErrorCode::kUnreadable);
}

}  // namespace
}  // namespace ringside::guestos
