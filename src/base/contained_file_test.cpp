#include "base/contained_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace ringside {
namespace {

namespace fs = std::filesystem;

class ContainedFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "contained-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    top_ = fs::canonical(name);
    fs::create_directories(top_ / "in" / "sub");
    fs::create_directories(top_ / "inside");  // a name that begins alike
    write("in/a");
    write("in/sub/b");
    write("inside/secret");
  }
  void TearDown() override { fs::remove_all(top_); }

  void write(const fs::path& name) { std::ofstream(top_ / name) << name.string(); }
  // The content, or the error.
  std::string read(const fs::path& name) {
    const auto fd = open_below(top_ / "in", top_ / name);
    if (!fd) {
      code_ = fd.error().code;
      return "!";
    }
    std::string text(100, '\0');
    const ssize_t got = ::read(fd->get(), text.data(), text.size());
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
  }

  fs::path top_;
  ErrorCode code_ = ErrorCode::kUsage;
};

TEST_F(ContainedFileTest, FilesBelowTheFolderAreOpened) {
  EXPECT_EQ(read("in/a"), "in/a");
  EXPECT_EQ(read("in/sub/../sub/b"), "in/sub/b");
  EXPECT_EQ(read("inside/../in/a"), "in/a");
}

TEST_F(ContainedFileTest, OthersAreNot) {
  EXPECT_EQ(read("inside/secret"), "!");
  EXPECT_EQ(code_, ErrorCode::kMismatch);
  EXPECT_EQ(read("in/../inside/secret"), "!");
  EXPECT_EQ(code_, ErrorCode::kMismatch);
  EXPECT_EQ(read("in/nothing"), "!");
  EXPECT_EQ(code_, ErrorCode::kNotFound);
}

TEST_F(ContainedFileTest, LinksCountAsWhatTheyLeadTo) {
  fs::create_symlink("sub/b", top_ / "in/to-b");
  fs::create_symlink(top_ / "inside/secret", top_ / "in/to-secret");
  fs::create_directory_symlink(top_ / "inside", top_ / "in/to-folder");
  fs::create_directory_symlink(top_ / "in", top_ / "other-way");
  EXPECT_EQ(read("in/to-b"), "in/sub/b");
  EXPECT_EQ(read("other-way/a"), "in/a");
  EXPECT_EQ(read("in/to-secret"), "!");
  EXPECT_EQ(code_, ErrorCode::kMismatch);
  EXPECT_EQ(read("in/to-folder/secret"), "!");
  EXPECT_EQ(code_, ErrorCode::kMismatch);
}

TEST_F(ContainedFileTest, OnlyRegularFilesAre) {
  ASSERT_EQ(::mkfifo((top_ / "in/pipe").c_str(), 0600), 0);
  EXPECT_EQ(read("in/pipe"), "!");
  EXPECT_EQ(code_, ErrorCode::kFormat);
  EXPECT_EQ(read("in/sub"), "!");
  EXPECT_EQ(code_, ErrorCode::kFormat);
}

TEST(IsBelow, ComparesWholeParts) {
  EXPECT_TRUE(is_below("/a/b", "/a"));
  EXPECT_TRUE(is_below("/a/b/c", "/a/b"));
  EXPECT_TRUE(is_below("/a", "/"));
  EXPECT_FALSE(is_below("/a", "/a"));
  EXPECT_FALSE(is_below("/ab", "/a"));
  EXPECT_FALSE(is_below("/a", "/a/b"));
}

TEST(IsBelow, NothingIsBelowAFolderThatIsNotKnown) {
  EXPECT_FALSE(is_below("/a/b", ""));
  EXPECT_FALSE(is_below("a", ""));
  EXPECT_FALSE(is_below("", ""));
}

}  // namespace
}  // namespace ringside
