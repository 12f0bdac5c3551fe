#include "guestos/linux/host_files.h"

#include <gtest/gtest.h>

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

TEST(HostFiles, OnlySomeOfManyAreTold) {
  const testing::TemporaryFolder folder;
  HostFiles files(folder.path);
  for (int i = 0; i < 7; ++i) {
    testing::write_file(folder.path / std::to_string(i), program_with_build_id("other"));
    for (int times = 0; times < 2; ++times)  // a file that was forgotten is looked for again
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

TEST(HostFiles, WithoutAFolderThereIsNone) {
  EXPECT_FALSE(HostFiles().in_sysroot("/bin/true", nullptr));
  EXPECT_EQ(HostFiles().caveat(), "");
}

}  // namespace
}  // namespace ringside::guestos
