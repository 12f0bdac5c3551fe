#include "base/atomic_folder.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <set>

#include "base/byte_reader.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

class AtomicFolderTest : public ::testing::Test {
 protected:
  AtomicFolderTest() {
    std::string name = fs::temp_directory_path() / "ringside-folder-XXXXXX";
    around_ = ::mkdtemp(name.data());
    path_ = around_ / "made";
  }
  ~AtomicFolderTest() override { fs::remove_all(around_); }

  // All files below the surrounding folder.
  [[nodiscard]] std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(around_))
      if (!entry.is_directory()) names.insert(entry.path().lexically_relative(around_).string());
    return names;
  }
  void make(const std::string& name) const {
    auto folder = AtomicFolder::create(path_);
    ASSERT_TRUE(folder);
    ASSERT_TRUE(folder->write(name, as_bytes(std::string_view("content"))));
    ASSERT_TRUE(folder->commit());
  }

  fs::path around_;
  fs::path path_;
};

TEST_F(AtomicFolderTest, AppearsWhole) {
  auto folder = AtomicFolder::create(path_);
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->write("a/b/c", as_bytes(std::string_view("content"))));
  ASSERT_TRUE(folder->link("d/e", "a/b/c"));
  EXPECT_FALSE(fs::exists(path_));
  ASSERT_TRUE(folder->commit());
  std::string text;
  std::ifstream(path_ / "d/e") >> text;
  EXPECT_EQ(text, "content");
  EXPECT_EQ(files(), (std::set<std::string>{"made/a/b/c", "made/d/e",
                                            std::string("made/") + AtomicFolder::kList}));
}

TEST_F(AtomicFolderTest, NothingStaysWithoutCommit) {
  {
    auto folder = AtomicFolder::create(path_);
    ASSERT_TRUE(folder);
    ASSERT_TRUE(folder->write("a", {}));
  }
  EXPECT_TRUE(fs::is_empty(around_));
}

TEST_F(AtomicFolderTest, ReplacesAnEarlierOne) {
  make("old/file");
  make("new");
  EXPECT_EQ(files(),
            (std::set<std::string>{"made/new", std::string("made/") + AtomicFolder::kList}));
  EXPECT_FALSE(fs::exists(path_ / "old"));
}

TEST_F(AtomicFolderTest, HasNoNameBeforeItIsWhole) {
  auto folder = AtomicFolder::create(path_);
  ASSERT_TRUE(folder);
  ASSERT_TRUE(folder->write("a/b", as_bytes(std::string_view("content"))));
  ASSERT_TRUE(folder->link("c", "a/b"));
  EXPECT_TRUE(fs::is_empty(around_));
}

TEST_F(AtomicFolderTest, KeepsThePermissionsOfWhatItReplaces) {
  make("name");
  fs::permissions(path_, fs::perms::owner_all);
  fs::permissions(path_ / "name", fs::perms::owner_read);
  make("name");
  EXPECT_EQ(fs::status(path_).permissions(), fs::perms::owner_all);
  EXPECT_EQ(fs::status(path_ / "name").permissions(), fs::perms::owner_read);
}

TEST_F(AtomicFolderTest, ReplacesNothingElse) {
  // A folder of other files, one of ours with one of the user's, a file, a link to a folder.
  fs::create_directory(path_);
  std::ofstream(path_ / "mine") << "precious";
  EXPECT_EQ(AtomicFolder::create(path_).error().code, ErrorCode::kUsage);
  fs::remove(path_ / "mine");
  make("ours");
  std::ofstream(path_ / "mine") << "precious";
  EXPECT_EQ(AtomicFolder::create(path_).error().code, ErrorCode::kUsage);
  EXPECT_EQ(fs::file_size(path_ / "mine"), 8u);
  fs::remove_all(path_);
  std::ofstream(path_) << "precious";
  EXPECT_EQ(AtomicFolder::create(path_).error().code, ErrorCode::kUsage);
  fs::remove(path_);
  fs::create_directory(around_ / "else");
  fs::create_directory_symlink("else", path_);
  EXPECT_EQ(AtomicFolder::create(path_).error().code, ErrorCode::kUsage);
}

TEST_F(AtomicFolderTest, FilesThatComeMeanwhileStay) {
  auto folder = AtomicFolder::create(path_);
  ASSERT_TRUE(folder);
  fs::create_directory(path_);
  std::ofstream(path_ / "mine") << "precious";
  EXPECT_FALSE(folder->commit());
  EXPECT_EQ(fs::file_size(path_ / "mine"), 8u);
}

}  // namespace
}  // namespace ringside
