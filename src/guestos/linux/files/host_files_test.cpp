#include "guestos/linux/files/host_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "guestos/testing/program_file.h"

namespace ringside::guestos {
namespace {

using testing::program_with_build_id;

std::shared_ptr<const elf::ElfFile> program(std::string_view build_id) {
  return elf::ElfFile::from_bytes(program_with_build_id(build_id), "program").value();
}

TEST(HostFiles, TheBuildIdDecides) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.path / "usr/bin/dd", program_with_build_id("same"));
  testing::write_file(folder.path / "usr/bin/cat", testing::program_bytes(0x1000, "text"));
  HostFiles files(folder.path);
  EXPECT_TRUE(files.in_sysroot("/usr/bin/dd", program("same").get()));
  EXPECT_TRUE(files.in_sysroot("/usr/bin/dd", nullptr));  // of the guest's nothing is known
  EXPECT_FALSE(files.in_sysroot("/usr/bin/mv", program("same").get()));
  EXPECT_EQ(files.caveat(), "");
  EXPECT_FALSE(files.in_sysroot("/usr/bin/dd", program("other").get()));
  EXPECT_FALSE(files.in_sysroot("/usr/bin/cat", program("same").get()));  // has none
  EXPECT_EQ(files.caveat(), folder.path.string() +
                                ": not used, for the guest has files of another build id: "
                                "/usr/bin/dd, /usr/bin/cat");
}

TEST(HostFiles, OnlySomeOfManyAreReported) {
  const testing::TemporaryFolder folder;
  HostFiles files(folder.path);
  for (int i = 0; i < 7; ++i) {
    testing::write_file(folder.path / std::to_string(i), program_with_build_id("other"));
    for (int times = 0; times < 2; ++times)  // a file that was forgotten is searched for again
      EXPECT_FALSE(files.in_sysroot("/" + std::to_string(i), program("same").get()));
  }
  EXPECT_TRUE(files.caveat().ends_with(": /0, /1, /2, /3, /4 and 2 more")) << files.caveat();
}

TEST(HostFiles, TheGuestDoesNotLeadOutOfTheFolder) {
  const testing::TemporaryFolder folder;
  testing::write_file(folder.path / "outside", program_with_build_id("same"));
  std::filesystem::create_directories(folder.path / "root/bin");
  HostFiles files(folder.path / "root");
  for (const char* path : {"/../outside", "/bin/../../outside", "..", "/", "//", ""})
    EXPECT_FALSE(files.in_sysroot(path, nullptr)) << path;
}

// An initramfs with one program of more than a page, and what the guest's memory has of a file.
class InitramfsFile : public ::testing::Test {
 protected:
  InitramfsFile() {
    // An entry of newc: inode, mode, owner, group, links, time, size, devices, size of the name.
    std::string archive = "070701";
    for (const std::size_t number :
         std::array<std::size_t, 13>{1, 0100755, 0, 0, 1, 0, bytes_.size(), 0, 0, 0, 0, 7, 0})
      archive += fmt::format("{:08x}", number);
    archive += std::string("bin/dd\0\0\0\0", 10);
    archive.append(reinterpret_cast<const char*>(bytes_.data()), bytes_.size());
    testing::write_file(folder_.path / "initrd", as_bytes(archive));
  }
  [[nodiscard]] CachedFile known(std::vector<bool> present) const {
    CachedFile known{bytes_, std::move(present), kPage, 0};
    for (std::size_t page = 0; page < known.present.size(); ++page) {
      if (known.present[page]) continue;
      for (std::size_t i = page * kPage; i < std::min((page + 1) * kPage, bytes_.size()); ++i)
        known.bytes[i] = std::byte{0};
    }
    return known;
  }

  static constexpr std::size_t kPage = 4096;
  testing::TemporaryFolder folder_;
  std::vector<std::byte> bytes_ = testing::program_bytes(0x1000, std::string(5000, 'x'));
  HostFiles files_{{}, folder_.path / "initrd"};
};

TEST_F(InitramfsFile, IsTheGuestsWhereItHasTheBytesThatAreKnown) {
  for (const auto& present : {std::vector{true, false}, {false, true}, {false, false}}) {
    const auto found = files_.in_initramfs("/bin/dd", known(present));
    ASSERT_TRUE(found);
    EXPECT_TRUE(std::ranges::equal(found->file_bytes(), bytes_));
    EXPECT_FALSE(found->is_on_disk());
  }
  EXPECT_FALSE(files_.in_initramfs("/bin/mv", known({true, false})));
  EXPECT_EQ(files_.caveat(), "");
}

TEST_F(InitramfsFile, IsAnotherOneOfOtherSizeOrBytes) {
  CachedFile changed = known({false, true});
  changed.bytes.back() ^= std::byte{1};
  EXPECT_FALSE(files_.in_initramfs("/bin/dd", changed));
  CachedFile longer = known({true, false});
  longer.bytes.emplace_back();
  EXPECT_FALSE(files_.in_initramfs("/bin/dd", longer));
  EXPECT_FALSE(files_.in_initramfs("/bin/dd", CachedFile{}));
}

TEST_F(InitramfsFile, ABadArchiveIsReportedOnce) {
  testing::write_file(folder_.path / "initrd", as_bytes("junk"));
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(files_.in_initramfs("/bin/dd", known({true, false})));
  EXPECT_EQ(files_.caveat(),
            "no program was looked for in the initramfs: " + (folder_.path / "initrd").string() +
                ": neither a cpio archive nor a packed one at 0x0");
}

TEST(HostFiles, WithoutAFolderThereIsNone) {
  EXPECT_FALSE(HostFiles().in_sysroot("/bin/true", nullptr));
  EXPECT_FALSE(HostFiles().in_initramfs("/bin/true", CachedFile{}));
  EXPECT_EQ(HostFiles().caveat(), "");
}

}  // namespace
}  // namespace ringside::guestos
