#include "app/browser.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "recording/recording_test_util.h"

namespace ringside::app {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

class LinkFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(dir_ / "home");
    fs::create_directories(dir_ / "private");
    if (const char* const home = std::getenv("HOME")) home_ = home;
    ::setenv("HOME", (dir_ / "home").c_str(), 1);
  }
  void TearDown() override {
    if (home_.empty())
      ::unsetenv("HOME");
    else
      ::setenv("HOME", home_.c_str(), 1);
  }
  recording::testing::TempDir dir_;
  std::string home_;
};

TEST_F(LinkFileTest, IsForItsOwnerAndLeadsToTheLink) {
  const auto file = LinkFile::create("http://127.0.0.1:1/x#y=z", dir_ / "private");
  ASSERT_TRUE(file);
  EXPECT_EQ(file->path().parent_path(), dir_ / "private");
  EXPECT_EQ(mode_of(file->path()), 0600u);
  EXPECT_NE(recording::testing::slurp(file->path())
                .find(R"(http-equiv="refresh" content="0; url=http://127.0.0.1:1/x#y=z")"),
            std::string::npos);
}

// A snap's home has no hidden files and nothing of other folders.
TEST_F(LinkFileTest, WithSnapsIsInAFolderOfItsOwnAtHome) {
  fs::create_directory(dir_ / "home/snap");
  fs::path folder;
  {
    const auto file = LinkFile::create("http://127.0.0.1:1/", dir_ / "private");
    ASSERT_TRUE(file);
    folder = file->path().parent_path();
    EXPECT_EQ(folder.parent_path(), dir_ / "home");
    EXPECT_NE(folder.filename().string().front(), '.');
    EXPECT_EQ(mode_of(folder), 0700u);
    EXPECT_EQ(mode_of(file->path()), 0600u);
  }
  EXPECT_FALSE(fs::exists(folder));
}

}  // namespace
}  // namespace ringside::app
