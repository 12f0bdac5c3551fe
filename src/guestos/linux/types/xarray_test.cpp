#include "guestos/linux/types/xarray.h"

#include <gtest/gtest.h>

#include "guestos/linux/types/linux_types.h"
#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

class Xarray : public ::testing::Test {
 protected:
  // include/linux/xarray.h: xa_mk_node(), xa_mk_value(), xa_mk_sibling().
  [[nodiscard]] static void* pointer_to(xa_node& node) {
    return reinterpret_cast<char*>(&node) + 2;
  }
  [[nodiscard]] static void* value(std::uintptr_t number) {
    return reinterpret_cast<void*>(number << 1 | 1);
  }
  [[nodiscard]] static void* sibling(std::uintptr_t slot) {
    return reinterpret_cast<void*>(slot << 2 | 2);
  }
  [[nodiscard]] Result<std::vector<XarrayEntry>> read(const void* head, std::uint64_t end) {
    return read_xarray(types_.xarray, reader_, reinterpret_cast<std::uintptr_t>(head), end);
  }
  [[nodiscard]] std::uint64_t at(int item) const {
    return reinterpret_cast<std::uintptr_t>(&items_[item]);
  }

  std::shared_ptr<const elf::ElfFile> file_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  std::unique_ptr<TypeSource> source_ = open_types(file_).value();
  LinuxTypes types_ = LinuxTypes::of(*file_, *source_).value();
  testing::OwnSpace own_memory_;
  KernelReader reader_{own_memory_, Arch::kX86_64};
  std::array<xa_node, 3> nodes_{};
  std::array<long, 8> items_{};
};

TEST_F(Xarray, NothingOneAndAValue) {
  EXPECT_TRUE(read(nullptr, 100)->empty());
  EXPECT_TRUE(read(value(7), 100)->empty());
  EXPECT_EQ(read(&items_[0], 100).value(), (std::vector<XarrayEntry>{{0, at(0)}}));
  EXPECT_TRUE(read(&items_[0], 0)->empty());
}

TEST_F(Xarray, TwoLevelsSiblingsAndMarks) {
  auto& [root, low, high] = nodes_;
  root.shift = 6;
  root.slots[0] = pointer_to(low);
  root.slots[1] = &items_[5];  // of order 6: it stands for 64 indices
  root.slots[2] = pointer_to(high);
  low.slots[3] = &items_[1];
  low.slots[4] = &items_[2];  // of order 2
  low.slots[5] = low.slots[6] = low.slots[7] = sibling(4);
  low.slots[8] = value(1);                               // was evicted
  low.slots[9] = reinterpret_cast<void*>(256 << 2 | 2);  // XA_RETRY_ENTRY
  high.slots[0] = &items_[3];
  high.slots[63] = &items_[4];  // behind the end
  const auto found = read(pointer_to(root), 130);
  ASSERT_TRUE(found) << found.error().message;
  std::vector<XarrayEntry> expected = {{3, at(1)}, {4, at(2)}, {5, at(2)}, {6, at(2)}, {7, at(2)}};
  for (std::uint64_t index = 64; index < 128; ++index) expected.push_back({index, at(5)});
  expected.push_back({128, at(3)});
  EXPECT_EQ(*found, expected);
}

TEST_F(Xarray, DamageIsDisturbed) {
  auto& [root, low, high] = nodes_;
  root.shift = 6;
  root.slots[0] = pointer_to(root);  // a cycle
  EXPECT_EQ(read(pointer_to(root), 1000).error().code, ErrorCode::kDisturbed);
  root.shift = 0;
  EXPECT_EQ(read(pointer_to(root), 1000).error().code, ErrorCode::kDisturbed);
  root.shift = 7;  // no multiple of 6
  EXPECT_EQ(read(pointer_to(root), 1000).error().code, ErrorCode::kDisturbed);
  root.shift = 12;
  root.slots[0] = pointer_to(low);  // a level is missing
  EXPECT_EQ(read(pointer_to(root), 1000).error().code, ErrorCode::kDisturbed);
  root.shift = 6;
  root.slots[0] = reinterpret_cast<void*>(0xdead000000000102);
  EXPECT_EQ(read(pointer_to(root), 1000).error().code, ErrorCode::kUnreadable);
  low.slots[1] = sibling(1);  // of itself
  EXPECT_TRUE(read(pointer_to(low), 1000)->empty());
}

}  // namespace
}  // namespace ringside::guestos
