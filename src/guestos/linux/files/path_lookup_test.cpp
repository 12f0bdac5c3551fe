#include "guestos/linux/files/path_lookup.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <deque>

#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

GuestVirt at(const void* object) { return {reinterpret_cast<std::uint64_t>(object)}; }

void link(list_head& head) { head.next = head.prev = &head; }
// In front, as d_alloc() does.
void insert(list_head& head, list_head& node) {
  node.next = head.next;
  node.prev = &head;
  head.next->prev = &node;
  head.next = &node;
}

// A task whose root has /etc/passwd, and names beside it.
class PathLookup : public ::testing::Test {
 protected:
  PathLookup() {
    root_mount_.mnt.mnt_root = &root_;
    root_mount_.mnt_parent = &root_mount_;
    link(root_mount_.mnt_mounts);
    fs_.root = {&root_mount_.mnt, &root_};
    task_.fs = &fs_;
    add("passwd", &root_, file(7));
    add("etc-", &root_, nullptr);
    add("usr", &root_, nullptr);
    add("passwd-", &etc_, file(8));
    add("shadow", &etc_, file(9));
    passwd_.i_mapping = &mapping_;
    passwd_.i_size = 1234;
  }

  dentry& add(const char* name, dentry* parent, inode* of) {
    dentry& added = dentries_.emplace_back();
    added.d_parent = parent == nullptr ? &added : parent;
    added.d_name.name = name;
    added.d_name.len = static_cast<unsigned>(std::strlen(name));
    added.d_hash.pprev = &added.d_hash.next;
    added.d_inode = of;
    link(added.d_subdirs);
    if (parent != nullptr) insert(parent->d_subdirs, added.d_child);
    return added;
  }
  inode* file(unsigned long number, unsigned mode = S_IFREG | 0644) {
    inode& added = inodes_.emplace_back();
    added.i_mode = static_cast<unsigned short>(mode);
    added.i_ino = number;
    added.i_sb = &super_block_;
    return &added;
  }
  void mount_on(dentry& name, mount& below, mount& added, dentry& root) {
    added.mnt_parent = &below;
    added.mnt_mountpoint = &name;
    added.mnt.mnt_root = &root;
    link(added.mnt_mounts);
    insert(below.mnt_mounts, added.mnt_child);
  }
  [[nodiscard]] Result<std::optional<GuestFile>> find(const char* path = "/etc/passwd") {
    return find_guest_file(types_, fields_, reader_, at(&task_), path);
  }
  // The inode's number; 0 where there is no file.
  [[nodiscard]] std::uint64_t number(const char* path = "/etc/passwd") {
    const auto found = find(path);
    EXPECT_TRUE(found) << found.error().message;
    return found && *found ? (*found)->identity.number : 0;
  }
  [[nodiscard]] ErrorCode error() {
    const auto found = find();
    return found ? ErrorCode::kUsage : found.error().code;
  }

  std::shared_ptr<const elf::ElfFile> kernel_ = elf::ElfFile::open(RINGSIDE_LINUX_TYPES).value();
  std::unique_ptr<TypeSource> source_ = open_types(kernel_).value();
  LinuxTypes types_ = LinuxTypes::of(*kernel_, *source_).value();
  PathLookupFields fields_ = PathLookupFields::of(*kernel_, *source_).value();
  testing::OwnSpace own_memory_;
  KernelReader reader_{own_memory_, Arch::kX86_64};
  std::deque<dentry> dentries_;
  std::deque<inode> inodes_;
  super_block super_block_{};
  address_space mapping_{};
  mount root_mount_{};
  fs_struct fs_{};
  task_struct task_{};
  dentry& root_ = add("/", nullptr, nullptr);
  dentry& etc_ = add("etc", &root_, nullptr);
  inode& passwd_ = *file(42);
  dentry& name_ = add("passwd", &etc_, &passwd_);
};

TEST_F(PathLookup, FileOfATask) {
  const auto found = find();
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(*found);
  EXPECT_EQ((*found)->path, "/etc/passwd");
  EXPECT_EQ((*found)->inode, at(&passwd_));
  EXPECT_EQ((*found)->mapping, at(&mapping_));
  EXPECT_EQ((*found)->identity.number, 42u);
  EXPECT_EQ((*found)->identity.size, 1234u);
  EXPECT_EQ(number("passwd"), 7u);
  EXPECT_EQ(number("//etc//shadow/"), 9u);
  // A root of its own, as chroot() makes.
  fs_.root.dentry = &etc_;
  EXPECT_EQ(number("/passwd"), 42u);
}

TEST_F(PathLookup, WhatIsNoRegularFileIsNotThere) {
  EXPECT_EQ(number("/etc/group"), 0u);
  EXPECT_EQ(number("/usr/passwd"), 0u);
  EXPECT_EQ(number("/nowhere/passwd"), 0u);
  EXPECT_EQ(number("/etc"), 0u);  // a name without a file
  name_.d_inode = file(43, S_IFLNK | 0777);
  EXPECT_EQ(number(), 0u);
  name_.d_inode = nullptr;
  EXPECT_EQ(number(), 0u);
}

// vipw and useradd write another file and rename it.
TEST_F(PathLookup, FileThatAnotherOneWasRenamedOver) {
  add("passwd", &etc_, file(44)).d_hash.pprev = nullptr;
  EXPECT_EQ(number(), 42u);
  name_.d_hash.pprev = nullptr;
  EXPECT_EQ(number(), 0u);
}

TEST_F(PathLookup, MountsOnTheWay) {
  dentry& other = add("/", nullptr, nullptr);
  dentry& top = add("/", nullptr, nullptr);
  add("passwd", &other, file(50));
  dentry& topmost = add("passwd", &top, file(51));
  mount elsewhere{}, over{}, again{}, single{};
  mount_on(dentries_.front(), root_mount_, elsewhere, top);  // "/" itself: fs_struct is below that
  EXPECT_EQ(number(), 42u);
  mount_on(etc_, root_mount_, over, other);
  EXPECT_EQ(number(), 50u);
  EXPECT_EQ(number("/passwd"), 7u);
  mount_on(other, over, again, top);
  EXPECT_EQ(number(), 51u);
  // A file on a file.
  mount_on(topmost, again, single, add("etc-passwd", nullptr, file(52)));
  EXPECT_EQ(number(), 52u);
}

// struct hlist_head since Linux 6.8: it ends with null.
TEST_F(PathLookup, NamesInAnHlist) {
  for (dentry* folder : {&root_, &etc_}) folder->d_subdirs.prev->next = nullptr;
  EXPECT_EQ(number(), 42u);
  EXPECT_EQ(number("/etc/group"), 0u);
}

TEST_F(PathLookup, DamageIsReported) {
  list_head& first = add("first", &etc_, nullptr).d_child;
  const list_head good = first;
  first.next = &first;  // a cycle of one, and one of two
  EXPECT_EQ(error(), ErrorCode::kDisturbed);
  list_head& second = add("second", &etc_, nullptr).d_child;
  first.next = &second;
  EXPECT_EQ(error(), ErrorCode::kDisturbed);
  first.next = reinterpret_cast<list_head*>(0xdead000000000100);  // LIST_POISON1
  EXPECT_EQ(error(), ErrorCode::kUnreadable);
  first.next = &root_.d_child;  // another folder's
  EXPECT_EQ(error(), ErrorCode::kDisturbed);
  first = good;
  name_.d_name.name = nullptr;
  EXPECT_EQ(number(), 0u);
  name_.d_name.name = "passwd";
  passwd_.i_sb = nullptr;
  EXPECT_EQ(error(), ErrorCode::kUnreadable);
  task_.fs = nullptr;
  EXPECT_EQ(error(), ErrorCode::kUnreadable);
}

TEST_F(PathLookup, DamagedMountsAreReported) {
  mount one{}, two{};
  mount_on(etc_, root_mount_, one, etc_);
  one.mnt_child.next = &one.mnt_child;
  one.mnt_mountpoint = &root_;
  EXPECT_EQ(error(), ErrorCode::kDisturbed);
  one.mnt_child.next = &root_mount_.mnt_mounts;
  one.mnt_mountpoint = &etc_;
  mount_on(etc_, one, two, etc_);
  one.mnt_parent = &two;
  EXPECT_EQ(error(), ErrorCode::kDisturbed);
  // Each is mounted on the other.
  one.mnt_parent = &root_mount_;
  insert(two.mnt_mounts, root_mount_.mnt_child);
  root_mount_.mnt_parent = &two;
  root_mount_.mnt_mountpoint = &etc_;
  root_mount_.mnt.mnt_root = &etc_;
  EXPECT_EQ(error(), ErrorCode::kDisturbed);
}

TEST_F(PathLookup, MoreNamesThanAreRead) {
  for (int i = 0; i < 20'000; ++i) add("x", &etc_, nullptr);
  EXPECT_EQ(error(), ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace ringside::guestos
