#include "engines/ring/redox_contexts.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/testing/time_limits.h"

namespace ringside::engines::ring {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kTable = kPage;
constexpr std::uint64_t kCtrl = 8, kMask = 0, kItems = 24;
constexpr std::uint64_t kEntryBytes = 40, kId = 36, kLength = 32;  // text at 0
constexpr std::byte kEmpty{0xff}, kDeleted{0x80}, kThere{0x12};

// Memory that is mapped where it is, but for its first page.
class Ram final : public PhysicalMemory, public memory::PageTables {
 public:
  std::vector<std::byte> bytes = std::vector<std::byte>(16 * kPage);
  std::function<void()> after_read = [] {};

  Result<std::size_t> read_up_to(GuestPhys at, std::span<std::byte> destination) override {
    if (at.value >= bytes.size()) return 0;
    const std::size_t size = std::min<std::uint64_t>(bytes.size() - at.value, destination.size());
    std::memcpy(destination.data(), bytes.data() + at.value, size);
    after_read();
    return size;
  }
  Result<memory::PageWalk> walk(PhysicalMemory&, GuestVirt address) const override {
    memory::PageWalk walk;
    walk.bytes = kPage - address.value % kPage;
    if (address.value < kPage || address.value >= bytes.size()) return walk;
    walk.end = memory::WalkEnd::kMapped;
    walk.address = GuestPhys{address.value};
    return walk;
  }
  template <class Value>
  void put(std::uint64_t at, Value value) {
    std::memcpy(bytes.data() + at, &value, sizeof(value));
  }
};

class RedoxContextsTest : public ::testing::Test {
 protected:
  // Room for so many entries, in front of that address.
  void put_table(std::uint64_t ctrl, std::uint64_t buckets, std::uint64_t items) {
    ram_.put(kTable + kCtrl, ctrl);
    ram_.put(kTable + kMask, buckets - 1);
    ram_.put(kTable + kItems, items);
    for (std::uint64_t n = 0; n < buckets; ++n) ram_.put(ctrl + n, kEmpty);
  }
  void put_entry(std::uint64_t ctrl, std::uint64_t n, std::uint32_t id, const std::string& name,
                 std::byte control = kThere) {
    const std::uint64_t entry = ctrl - (n + 1) * kEntryBytes;
    ram_.put(ctrl + n, control);
    ram_.put(entry + kId, id);
    ram_.put(entry + kLength, static_cast<std::uint32_t>(name.size()));
    std::memcpy(ram_.bytes.data() + entry, name.data(), std::min<std::size_t>(name.size(), 32));
  }
  void find() {
    RedoxContextTable table;
    table.place = GuestVirt{kTable};
    table.ctrl = kCtrl;
    table.bucket_mask = kMask;
    table.items = kItems;
    table.entry_bytes = kEntryBytes;
    table.id = kId;
    table.length = kLength;
    table.length_bytes = sizeof(std::uint32_t);
    table.text_bytes = 32;
    auto found = RedoxContexts::find(table, ram_, ram_);
    ASSERT_TRUE(found && *found);
    contexts_ = std::move(*found);
  }
  // A call reads no more than the header of a table that has no entries or is elsewhere.
  void look() { ASSERT_TRUE(contexts_->read()); }
  // Until the entries have been read, which is put off after each time.
  void read() {
    constexpr int kOfHeader = 3;
    const std::uint64_t end = ringside::testing::step_end_ns();
    const auto also = ram_.after_read;
    int reads = 0;
    ram_.after_read = [&] {
      ++reads;
      also();
    };
    do {
      reads = 0;
      ASSERT_TRUE(contexts_->read());
    } while (reads <= kOfHeader && monotonic_ns() < end);
    ram_.after_read = also;
    ASSERT_GT(reads, kOfHeader);
  }

  Ram ram_;
  std::unique_ptr<RedoxContexts> contexts_;
};

constexpr std::uint64_t kFirst = 3 * kPage, kSecond = 7 * kPage;

TEST_F(RedoxContextsTest, NamesOfEntriesThatAreThere) {
  put_table(kFirst, 8, 3);
  put_entry(kFirst, 0, 1, "[kmain]");
  put_entry(kFirst, 7, 4, "/scheme/initfs/bin/a-long-name-32");  // more than has room
  put_entry(kFirst, 5, 12, "file:/bin/ion");
  put_entry(kFirst, 2, 9, "gone", kDeleted);
  find();
  read();
  EXPECT_EQ(contexts_->name_of(1), "[kmain]");
  EXPECT_EQ(contexts_->name_of(12), "file:/bin/ion");
  EXPECT_EQ(contexts_->name_of(4), "");
  EXPECT_EQ(contexts_->name_of(9), "");
  EXPECT_EQ(contexts_->name_of(0), "");
}

TEST_F(RedoxContextsTest, ANameChangesWithTheProgram) {
  put_table(kFirst, 4, 1);
  put_entry(kFirst, 1, 3, "ion");
  find();
  read();
  put_entry(kFirst, 1, 3, "cargo");
  read();
  EXPECT_EQ(contexts_->name_of(3), "cargo");
}

TEST_F(RedoxContextsTest, AMapThatGrowsIsFollowed) {
  put_table(kFirst, 4, 0);
  find();
  look();
  EXPECT_FALSE(contexts_->have_moved());
  put_table(kFirst, 4, 1);
  put_entry(kFirst, 0, 1, "one");
  look();
  EXPECT_TRUE(contexts_->have_moved());  // nothing was there when it was found
  ASSERT_TRUE(contexts_->map(ram_, ram_));
  read();
  EXPECT_EQ(contexts_->name_of(1), "one");
  put_table(kSecond, 8, 1);
  put_entry(kSecond, 6, 1, "won");
  look();
  EXPECT_TRUE(contexts_->have_moved());
  EXPECT_EQ(contexts_->name_of(1), "one");
  ASSERT_TRUE(contexts_->map(ram_, ram_));
  EXPECT_FALSE(contexts_->have_moved());
  read();
  EXPECT_EQ(contexts_->name_of(1), "won");
  // Elsewhere, and not mapped: the old names are not true for long.
  put_table(kSecond, 4, 1);
  ram_.put(kTable + kCtrl, 0x7fff'0000'0000);
  look();
  EXPECT_TRUE(contexts_->have_moved());
  ASSERT_TRUE(contexts_->map(ram_, ram_));
  EXPECT_TRUE(contexts_->have_moved());
  EXPECT_EQ(contexts_->name_of(1), "");
}

TEST_F(RedoxContextsTest, AMapThatIsEmptyAgainHasNoNames) {
  put_table(kFirst, 4, 1);
  put_entry(kFirst, 1, 3, "ion");
  find();
  read();
  ram_.put(kTable + kItems, 0);
  look();
  EXPECT_EQ(contexts_->name_of(3), "");
}

// The control byte comes before the entry, or the count after both.
TEST_F(RedoxContextsTest, NoNameOfAMapThatIsBeingChanged) {
  put_table(kFirst, 8, 2);
  put_entry(kFirst, 3, 5, "five");
  find();
  read();
  EXPECT_EQ(contexts_->name_of(5), "");
  put_entry(kFirst, 4, 6, "six");
  char letter = 'a';
  ram_.after_read = [&] { ram_.put(kFirst - 4 * kEntryBytes, ++letter); };
  read();
  EXPECT_EQ(contexts_->name_of(6), "");
  ram_.after_read = [] {};
  read();
  EXPECT_EQ(contexts_->name_of(6), "six");
}

TEST_F(RedoxContextsTest, WhatMakesNoSenseHasNoNames) {
  struct Wrong {
    std::uint64_t ctrl, buckets, items;
  };
  for (const Wrong& wrong : {Wrong{kFirst, 6, 1}, Wrong{kFirst, 8, 8}, Wrong{16, 8, 1},
                             Wrong{~0ull, 8, 1}, Wrong{kFirst, 1ull << 40, 1}, Wrong{0, 0, 1}}) {
    put_table(kFirst, 8, 1);
    put_entry(kFirst, 0, 1, "one");
    ram_.put(kTable + kCtrl, wrong.ctrl);
    ram_.put(kTable + kMask, wrong.buckets - 1);
    ram_.put(kTable + kItems, wrong.items);
    find();
    look();
    EXPECT_EQ(contexts_->name_of(1), "");
  }
}

TEST_F(RedoxContextsTest, EntriesThatCannotBe) {
  RedoxContextTable table;
  table.place = GuestVirt{kTable};
  table.entry_bytes = kEntryBytes;
  table.id = kEntryBytes - 2;
  EXPECT_FALSE(RedoxContexts::find(table, ram_, ram_));
  table.id = 0;
  table.place = GuestVirt{0};
  const auto unmapped = RedoxContexts::find(table, ram_, ram_);
  ASSERT_TRUE(unmapped);
  EXPECT_FALSE(*unmapped);
}

}  // namespace
}  // namespace ringside::engines::ring
