#include "base/private_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <fstream>

namespace ringside {
namespace {

class PrivateFileTest : public ::testing::Test {
 protected:
  PrivateFileTest() {
    std::string name = std::filesystem::temp_directory_path() / "ringside-private-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~PrivateFileTest() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(PrivateFileTest, OnlyItsOwnerReadsIt) {
  std::ofstream(folder_ / "a") << "older";
  const auto fd = create_private_file(folder_ / "a");
  ASSERT_TRUE(fd);
  struct stat info {};
  ASSERT_EQ(::stat((folder_ / "a").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_size, 0);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "a.old"), 5u);
}

TEST_F(PrivateFileTest, IsNeverReachedThroughALink) {
  for (const char* target : {"there", "gone"}) {
    std::ofstream(folder_ / "there") << "precious";
    std::filesystem::create_symlink(folder_ / target, folder_ / "link");
    const auto fd = create_private_file(folder_ / "link");
    ASSERT_FALSE(fd);
    EXPECT_NE(fd.error().message.find("symbolic link"), std::string::npos);
    EXPECT_EQ(std::filesystem::file_size(folder_ / "there"), 8u);
    EXPECT_FALSE(std::filesystem::exists(folder_ / "gone"));
    std::filesystem::remove(folder_ / "link");
  }
}

}  // namespace
}  // namespace ringside
