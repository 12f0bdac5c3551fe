#include "guestos/linux/files/guest_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "guestos/linux/files/page_cache_file.h"
#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

// A root file system, and another one mounted at /mnt.
class GuestFiles : public ::testing::Test {
 protected:
  GuestFiles() {
    root_mount_.mnt_parent = &root_mount_;
    root_mount_.mnt.mnt_root = &add("/", nullptr);
    inner_mount_.mnt_parent = &root_mount_;
    inner_mount_.mnt_mountpoint = &add("mnt", root_mount_.mnt.mnt_root);
    inner_mount_.mnt.mnt_root = &add("/", nullptr);
    inode_.i_sb = &super_block_;
    inode_.i_ino = 22;
    inode_.i_ctime_sec = 1795300625;
    inode_.i_ctime_nsec = 999999999;
    inode_.i_generation = 0x80000005;
    super_block_.s_dev = 8 << 20 | 1;
    file_.f_inode = &inode_;
    file_.f_mapping = &mapping_;
  }

  dentry& add(const char* name, dentry* parent) {
    dentry& added = dentries_.emplace_back();
    added.d_parent = parent == nullptr ? &added : parent;
    added.d_name.name = name;
    added.d_name.len = static_cast<unsigned>(std::strlen(name));
    added.d_hash.pprev = &added.d_hash.next;
    return added;
  }
  [[nodiscard]] static GuestVirt at(const void* object) {
    return {reinterpret_cast<std::uint64_t>(object)};
  }
  [[nodiscard]] Result<GuestFile> read_file(dentry& name, mount& mounted) {
    file_.f_path = {&mounted.mnt, &name};
    return read_guest_file(types_, reader_, at(&file_));
  }

  std::shared_ptr<const elf::ElfFile> kernel_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  std::unique_ptr<TypeSource> source_ = open_types(kernel_).value();
  LinuxTypes types_ = LinuxTypes::of(*kernel_, *source_).value();
  testing::OwnSpace own_memory_;
  KernelReader reader_{own_memory_, Arch::kX86_64};
  std::deque<dentry> dentries_;
  mount root_mount_{};
  mount inner_mount_{};
  super_block super_block_{};
  inode inode_{};
  address_space mapping_{};
  file file_{};
};

TEST_F(GuestFiles, PathsOverMounts) {
  dentry& usr = add("usr", root_mount_.mnt.mnt_root);
  dentry& bin = add("bin", &usr);
  EXPECT_EQ(read_file(bin, root_mount_)->path, "/usr/bin");
  EXPECT_EQ(read_file(*root_mount_.mnt.mnt_root, root_mount_)->path, "/");
  dentry& program = add("program", inner_mount_.mnt.mnt_root);
  const auto file = read_file(program, inner_mount_);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->path, "/mnt/program");
  EXPECT_FALSE(file->deleted);
  EXPECT_EQ(file->identity.number, 22u);
  EXPECT_EQ(file->identity.device, (8u << 20) + 1);
  EXPECT_EQ(file->identity.changed, 1795300625u);
  EXPECT_EQ(file->identity.changed_ns, 999999999u);
  EXPECT_EQ(file->identity.generation, 0x80000005u);
  EXPECT_EQ(file->mapping, at(&mapping_));
  program.d_hash.pprev = nullptr;
  EXPECT_TRUE(read_file(program, inner_mount_)->deleted);
}

TEST_F(GuestFiles, FileWithoutAMount) {
  dentry& memory = add("memfd:code", nullptr);
  EXPECT_EQ(read_file(memory, root_mount_)->path, "/memfd:code");
}

TEST_F(GuestFiles, DamageIsDisturbed) {
  dentry& a = add("a", nullptr);
  dentry& b = add("b", &a);
  a.d_parent = &b;  // a cycle
  EXPECT_EQ(read_file(a, root_mount_).error().code, ErrorCode::kDisturbed);
  inner_mount_.mnt_parent = &inner_mount_;
  inner_mount_.mnt_mountpoint = inner_mount_.mnt.mnt_root;
  root_mount_.mnt_parent = &inner_mount_;
  root_mount_.mnt_mountpoint = &a;
  EXPECT_FALSE(read_file(a, root_mount_));
  dentry& c = add("c", inner_mount_.mnt.mnt_root);
  c.d_name.len = 100;
  EXPECT_EQ(read_file(c, inner_mount_).error().code, ErrorCode::kDisturbed);
  c.d_name.len = 5000;
  EXPECT_EQ(read_file(c, inner_mount_).error().code, ErrorCode::kDisturbed);
  c.d_parent = reinterpret_cast<dentry*>(0xdead000000000100);
  c.d_name.len = 1;
  EXPECT_EQ(read_file(c, inner_mount_).error().code, ErrorCode::kUnreadable);
}

// Ten pages of memory, each filled with its number, and their struct pages.
class PageCache : public GuestFiles, public PhysicalMemory {
 protected:
  static constexpr std::size_t kPage = 4096;

  PageCache() {
    inode_.i_size = 4 * kPage + 100;
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      std::fill_n(&ram_[i * kPage], kPage, static_cast<std::byte>(i));
      pages_[i].page.flags = 1 << PG_uptodate;
      pages_[i].page.mapping = &mapping_;
    }
    mapping_.i_pages.xa_head = reinterpret_cast<char*>(&node_) + 2;
  }
  void cache(std::size_t index, std::size_t frame) {
    node_.slots[index] = &pages_[frame];
    pages_[frame].page.index = index;
  }
  Result<std::size_t> read_up_to(GuestPhys address, std::span<std::byte> into) override {
    if (address.value >= ram_.size()) return 0;
    const std::size_t count = std::min<std::size_t>(into.size(), ram_.size() - address.value);
    std::copy_n(&ram_[address.value], count, into.begin());
    return count;
  }
  [[nodiscard]] CachedFile read_cached() {
    const auto file = read_file(add("f", root_mount_.mnt.mnt_root), root_mount_);
    EXPECT_TRUE(file);
    const PageFrames frames(at(&pages_[0]), types_.page.struct_size, kPage);
    auto cached = read_cached_file(types_, reader_, frames, *this, *file);
    EXPECT_TRUE(cached) << cached.error().message;
    return cached.value_or(CachedFile{});
  }

  std::array<folio, 10> pages_{};
  std::vector<std::byte> ram_ = std::vector<std::byte>(10 * kPage);
  xa_node node_{};
};

TEST_F(PageCache, WholeFileWithALargeFolio) {
  cache(0, 7);
  cache(1, 2);
  pages_[4].page.index =
      2;  // a folio of pages 4 and 5; what its second struct page says is not asked
  pages_[5].page = {};
  node_.slots[2] = &pages_[4];
  node_.slots[3] = reinterpret_cast<void*>(2 << 2 | 2);
  cache(4, 0);
  const CachedFile cached = read_cached();
  EXPECT_TRUE(cached.whole());
  ASSERT_EQ(cached.bytes.size(), 4 * kPage + 100);
  const std::array<int, 5> frames = {7, 2, 4, 5, 0};
  for (std::size_t i = 0; i < cached.bytes.size(); ++i)
    ASSERT_EQ(cached.bytes[i], static_cast<std::byte>(frames[i / kPage])) << i;
}

TEST_F(PageCache, MissingPagesAreReported) {
  cache(0, 7);
  cache(1, 2);
  pages_[2].page.flags = 0;  // is being read
  cache(2, 3);
  pages_[3].page.mapping = nullptr;  // was truncated
  cache(3, 4);
  pages_[4].page.index = 9;  // another one's by now
  cache(4, 9);
  ram_.resize(9 * kPage);
  const CachedFile cached = read_cached();
  EXPECT_EQ(cached.present, (std::vector<bool>{true, false, false, false, false}));
  EXPECT_EQ(cached.missing, 4u);
  EXPECT_EQ(cached.bytes[kPage - 1], std::byte{7});
  EXPECT_EQ(cached.bytes[kPage], std::byte{0});
}

TEST_F(PageCache, TooLarge) {
  inode_.i_size = kMaxCachedFile + 1;
  const auto file = read_file(add("f", root_mount_.mnt.mnt_root), root_mount_);
  const PageFrames frames(at(&pages_[0]), types_.page.struct_size, kPage);
  EXPECT_EQ(read_cached_file(types_, reader_, frames, *this, *file).error().code,
            ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace ringside::guestos
