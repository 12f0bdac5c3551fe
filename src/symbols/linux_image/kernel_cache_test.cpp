#include "symbols/linux_image/kernel_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "elf/elf_writer.h"

namespace ringside::symbols {
namespace {

namespace fs = std::filesystem;

constexpr ImageAddr kText{0xffffffff81000000};

class KernelCacheTest : public ::testing::Test {
 protected:
  KernelCacheTest() {
    std::string name = fs::temp_directory_path() / "ringside-kernels-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~KernelCacheTest() override { fs::remove_all(folder_); }

  fs::path kernel(const std::string& name, const std::string& content = "vmlinuz") {
    const fs::path path = folder_ / name;
    std::ofstream(path) << content;
    return path;
  }
  static std::vector<std::byte> made(std::byte fill) {
    const std::vector<std::byte> code(KernelCache::kSmallest, fill);
    elf::ElfWriter writer(Arch::kX86_64, true, 2);
    writer.add_segment(kText, code.size(), true, false, code);
    return writer.write();
  }
  // Takes files that were changed just now.
  [[nodiscard]] KernelCache cache(KernelCache::Limits limits = {}) const {
    limits.youngest = {};
    return {folder_ / "cache" / "kernels", limits};
  }
  static std::shared_ptr<const elf::ElfFile> keep(const KernelCache& cache, const fs::path& file,
                                                  Bytes elf) {
    return cache.keep(file, KernelCache::origin_of(file), elf);
  }

  fs::path folder_;
};

TEST_F(KernelCacheTest, GivesWhatWasKept) {
  const fs::path file = kernel("vmlinuz");
  const auto elf = made(std::byte{0x90});
  EXPECT_EQ(cache().find(file), nullptr);
  const auto kept = keep(cache(), file, elf);
  ASSERT_NE(kept, nullptr);
  EXPECT_EQ(kept->name(), file);
  EXPECT_FALSE(kept->is_on_disk());
  EXPECT_TRUE(
      std::equal(elf.begin(), elf.end(), kept->file_bytes().begin(), kept->file_bytes().end()));
  const auto found = cache().find(file);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->bytes_at(kText, 1)[0], std::byte{0x90});
  // By another name it is the same file.
  fs::create_symlink(file, folder_ / "link");
  const auto by_link = cache().find(folder_ / "link");
  ASSERT_NE(by_link, nullptr);
  EXPECT_EQ(by_link->name(), folder_ / "link");
}

TEST_F(KernelCacheTest, AFileThatHasChangedIsAnotherOne) {
  const fs::path file = kernel("vmlinuz");
  ASSERT_NE(keep(cache(), file, made(std::byte{1})), nullptr);
  ::usleep(20'000);              // file systems count time in milliseconds
  kernel("vmlinuz", "vmlinux");  // as long as before
  EXPECT_EQ(cache().find(file), nullptr);
  kernel("other");
  EXPECT_EQ(cache().find(folder_ / "other"), nullptr);
  EXPECT_EQ(cache().find(folder_ / "none"), nullptr);
}

// As where a link to the newest kernel leads to another one by now.
TEST_F(KernelCacheTest, AFileThatHasChangedSinceItWasReadIsNotKept) {
  fs::create_symlink(kernel("first"), folder_ / "vmlinuz");
  kernel("second");
  const auto origin = KernelCache::origin_of(folder_ / "vmlinuz");
  fs::remove(folder_ / "vmlinuz");
  fs::create_symlink(folder_ / "second", folder_ / "vmlinuz");
  EXPECT_EQ(cache().keep(folder_ / "vmlinuz", origin, made(std::byte{1})), nullptr);
  fs::remove(folder_ / "vmlinuz");
  fs::create_symlink(folder_ / "first", folder_ / "vmlinuz");
  EXPECT_NE(cache().keep(folder_ / "vmlinuz", origin, made(std::byte{1})), nullptr);
  EXPECT_EQ(cache().find(folder_ / "second"), nullptr);
}

TEST_F(KernelCacheTest, AFileThatIsNewMayStillChange) {
  const fs::path file = kernel("vmlinuz");
  const auto keep_if_older = [&](std::chrono::nanoseconds youngest) {
    return keep({folder_ / "cache" / "kernels", {.youngest = youngest}}, file, made(std::byte{1}));
  };
  EXPECT_EQ(keep_if_older(std::chrono::hours(1)), nullptr);
  EXPECT_NE(keep_if_older({}), nullptr);
}

// As with sudo, which leaves HOME as it was.
TEST_F(KernelCacheTest, IsNotMadeInTheFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const fs::path file = kernel("vmlinuz");
  fs::create_directory(folder_ / "cache");
  ASSERT_EQ(::chown((folder_ / "cache").c_str(), 1, 1), 0);
  EXPECT_FALSE(cache().is_usable());
  EXPECT_EQ(keep(cache(), file, made(std::byte{1})), nullptr);
  EXPECT_FALSE(fs::exists(cache().folder()));
  ASSERT_EQ(::chown((folder_ / "cache").c_str(), 0, 0), 0);
  EXPECT_TRUE(cache().is_usable());
  EXPECT_NE(keep(cache(), file, made(std::byte{1})), nullptr);
}

TEST_F(KernelCacheTest, IsPrivateAndUsesNothingThatOthersCouldWrite) {
  const fs::path file = kernel("vmlinuz");
  ASSERT_NE(keep(cache(), file, made(std::byte{1})), nullptr);
  const fs::path entry = cache().entries().at(0).file;
  struct stat info {};
  ASSERT_EQ(::stat(entry.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(::stat(cache().folder().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ::chmod(entry.c_str(), 0620);
  EXPECT_EQ(cache().find(file), nullptr);
  ::chmod(entry.c_str(), 0600);
  ASSERT_NE(cache().find(file), nullptr);
  ::chmod(cache().folder().c_str(), 0777);
  EXPECT_EQ(cache().find(file), nullptr);
  EXPECT_EQ(keep(cache(), file, made(std::byte{2})), nullptr);
  ::chmod(cache().folder().c_str(), 0700);
  fs::rename(entry, folder_ / "elsewhere");
  fs::create_symlink(folder_ / "elsewhere", entry);
  EXPECT_EQ(cache().find(file), nullptr);
  if (::geteuid() != 0) return;
  fs::remove(entry);
  fs::rename(folder_ / "elsewhere", entry);
  ASSERT_NE(cache().find(file), nullptr);
  ASSERT_EQ(::chown(entry.c_str(), 1, 1), 0);
  EXPECT_EQ(cache().find(file), nullptr);
}

TEST_F(KernelCacheTest, DamagedEntriesAreNone) {
  const fs::path file = kernel("vmlinuz");
  ASSERT_NE(keep(cache(), file, made(std::byte{1})), nullptr);
  const fs::path entry = cache().entries().at(0).file;
  const auto size = fs::file_size(entry);
  const auto expect_none = [&](std::uintmax_t where) {
    EXPECT_EQ(cache().find(file), nullptr) << where;
    EXPECT_FALSE(fs::exists(entry)) << "what is damaged is removed";
    ASSERT_NE(keep(cache(), file, made(std::byte{1})), nullptr) << "and made anew";
    EXPECT_EQ(cache().entries().size(), 1u);
  };
  for (const std::uintmax_t left : {size - 1, size / 2, std::uintmax_t{8}, std::uintmax_t{0}}) {
    fs::resize_file(entry, left);
    expect_none(left);
  }
  std::ofstream(entry, std::ios::app) << "x";
  expect_none(size);
  // A bit of the file, of its code, and of each of the words behind it.
  std::vector<std::uintmax_t> places = {0, 100, size / 2, size / 2 + 1};
  for (std::uintmax_t back = 1; back < 120; back += 3) places.push_back(size - back);
  for (const std::uintmax_t place : places) {
    std::fstream stream(entry, std::ios::in | std::ios::out | std::ios::binary);
    stream.seekg(static_cast<std::streamoff>(place));
    const auto flipped = static_cast<char>(stream.get() ^ 1 << place % 8);
    stream.seekp(static_cast<std::streamoff>(place));
    stream.put(flipped);
    stream.close();
    expect_none(place);
  }
}

TEST_F(KernelCacheTest, WhatWasUsedLongestAgoGivesWay) {
  std::vector<fs::path> files;
  for (const char* const name : {"first", "second", "third", "fourth"})
    files.push_back(kernel(name));
  const KernelCache two =
      cache({.bytes = 3 * KernelCache::kSmallest, .entries = 16, .youngest = {}});
  for (int n = 0; n < 2; ++n) {
    ASSERT_NE(keep(two, files[n], made(std::byte{1})), nullptr);
    ::usleep(20'000);  // file systems count time in milliseconds
  }
  ASSERT_NE(two.find(files[0]), nullptr);
  ::usleep(20'000);
  ASSERT_NE(keep(two, files[2], made(std::byte{1})), nullptr);
  EXPECT_NE(two.find(files[0]), nullptr);
  EXPECT_EQ(two.find(files[1]), nullptr);
  EXPECT_NE(two.find(files[2]), nullptr);
  const KernelCache one = cache({.bytes = 1u << 30, .entries = 1, .youngest = {}});
  ASSERT_NE(keep(one, files[3], made(std::byte{1})), nullptr);
  ASSERT_EQ(one.entries().size(), 1u);
  EXPECT_EQ(one.entries()[0].kernel, files[3]);
  EXPECT_EQ(keep(cache({.bytes = KernelCache::kSmallest, .entries = 16, .youngest = {}}), files[0],
                 made(std::byte{1})),
            nullptr)
      << "larger than all may be";
}

TEST_F(KernelCacheTest, IsClearedOfItsOwnFilesOnly) {
  const fs::path file = kernel("vmlinuz");
  ASSERT_NE(keep(cache(), file, made(std::byte{1})), nullptr);
  std::ofstream(cache().folder() / ".ringside-abcdef") << "cut";
  std::ofstream(cache().folder() / "notes.txt") << "not ours";
  ASSERT_TRUE(cache().clear());
  EXPECT_EQ(cache().find(file), nullptr);
  EXPECT_FALSE(fs::exists(cache().folder() / ".ringside-abcdef"));
  EXPECT_TRUE(fs::exists(cache().folder() / "notes.txt"));
  EXPECT_TRUE(KernelCache({}, {}).clear());
  EXPECT_EQ(keep(KernelCache({}, {}), file, made(std::byte{1})), nullptr);
}

}  // namespace
}  // namespace ringside::symbols
