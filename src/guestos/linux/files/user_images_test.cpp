#include "guestos/linux/files/user_images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "guestos/testdata/linux_types.h"
#include "guestos/testing/own_memory.h"

namespace ringside::guestos {
namespace {

// A program that is written anew again and again, and run each time: the host has it.
class UserImagesTest : public ::testing::Test {
 protected:
  UserImagesTest() {
    root_mount_.mnt_parent = &root_mount_;
    root_mount_.mnt.mnt_root = &root_;
    root_.d_parent = &root_;
    program_.d_parent = &root_;
    program_.d_name.name = name_.c_str();
    program_.d_name.len = static_cast<unsigned>(name_.size());
    program_.d_hash.pprev = &program_.d_hash.next;
    inode_.i_sb = &super_block_;
    file_.f_inode = &inode_;
    file_.f_path = {&root_mount_.mnt, &program_};
  }
  [[nodiscard]] std::shared_ptr<const UserImage> run(std::uint64_t number) {
    inode_.i_ino = number;
    LinuxMapping mapping;
    mapping.file = {reinterpret_cast<std::uint64_t>(&file_)};
    return images_.find(mapping, std::nullopt, {}, memory_).value();
  }

  std::filesystem::path path_ = RINGSIDE_LINUX_TYPES;
  std::string name_ = path_.filename();
  std::shared_ptr<const elf::ElfFile> kernel_file_ = elf::ElfFile::open(path_).value();
  elf::Image kernel_{1, "kernel", kernel_file_, 0, false};
  std::unique_ptr<TypeSource> source_ = open_types(kernel_file_).value();
  LinuxTypes types_ = LinuxTypes::of(*kernel_file_, *source_).value();
  UserImages images_{kernel_, types_, HostFiles(path_.parent_path()),
                     8 * kernel_file_->memory_use()};
  testing::OwnMemory memory_;
  mount root_mount_{};
  dentry root_{};
  dentry program_{};
  super_block super_block_{};
  inode inode_{};
  file file_{};
};

TEST_F(UserImagesTest, FilesThatWereUsedLongAgoAreForgotten) {
  constexpr std::uint64_t kLibrary = 1;
  const UserImage* const library = run(kLibrary).get();
  std::map<std::uint64_t, std::weak_ptr<const elf::ElfFile>> files;
  for (std::uint64_t number = 2; number <= 100; ++number) {
    const auto image = run(number);
    ASSERT_TRUE(image && image->file);
    EXPECT_EQ(run(number), image);
    files[number] = image->file;
    EXPECT_EQ(run(kLibrary).get(), library);
  }
  const auto alive = std::count_if(files.begin(), files.end(),
                                   [](const auto& file) { return !file.second.expired(); });
  EXPECT_LE(alive, 7);
  EXPECT_GE(alive, 3);
  EXPECT_FALSE(files[100].expired());
  EXPECT_TRUE(files[2].expired());
  const auto again = run(2);
  ASSERT_TRUE(again && again->file);
  EXPECT_EQ(again->path, "/" + name_);
}

// The kernel has all of it; a process may not have touched its last pages.
TEST_F(UserImagesTest, TheVdsoIsReadWhereTheKernelHasIt) {
  std::ifstream file(path_, std::ios::binary);
  std::vector<char> content{std::istreambuf_iterator<char>(file), {}};
  content.resize((content.size() + 0xfff) & ~0xfffull);
  vdso_image image{};
  image.data = content.data();
  image.size = content.size();
  mm_struct space{};
  space.context.vdso_image = &image;
  TaskView task;
  task.space[0] = reinterpret_cast<std::uint64_t>(&space);
  LinuxMapping mapping;
  mapping.name = "[vdso]";
  mapping.start = {0x7fff00000000};
  mapping.end = mapping.start + content.size();
  const auto find = [&] { return images_.find(mapping, std::nullopt, task, memory_).value(); };
  const auto found = find();
  ASSERT_TRUE(found && found->file);
  EXPECT_EQ(found->name, "[vdso]");
  EXPECT_EQ(found->file->file_bytes().size(), content.size());
  EXPECT_TRUE(found->file->symbol_named("init_task"));
  EXPECT_EQ(find(), found);
  // None, and one that is not all there.
  space.context.vdso_image = nullptr;
  EXPECT_FALSE(find());
  vdso_image cut = image;
  cut.size = 0x1000;
  space.context.vdso_image = &cut;
  EXPECT_FALSE(find());
  // A kernel's vDSO is read once.
  space.context.vdso_image = &image;
  image.data = nullptr;
  EXPECT_EQ(find(), found);
}

}  // namespace
}  // namespace ringside::guestos
