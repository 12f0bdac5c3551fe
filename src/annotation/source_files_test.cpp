#include "annotation/source_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "recording/recording_test_util.h"

namespace ringside::annotation {
namespace {

namespace fs = std::filesystem;

class SourceFilesTest : public ::testing::Test {
 protected:
  fs::path write(const fs::path& path, const std::string& text) {
    const fs::path whole = dir_ / path;
    fs::create_directories(whole.parent_path());
    std::ofstream(whole) << text;
    return whole;
  }
  recording::testing::TempDir dir_;
};

TEST_F(SourceFilesTest, LinesAreWithoutIndentationAndPrintable) {
  const fs::path path = write("a.c", "int f() {\n\t return\t1;\x1b[31m\r\n\n}");
  SourceFiles files({.own = {dir_ / ""}});
  EXPECT_EQ(files.line(path, 1), "int f() {");
  EXPECT_EQ(files.line(path, 2), "return 1; [31m");
  EXPECT_EQ(files.line(path, 3), "");
  EXPECT_EQ(files.line(path, 4), "}");
  EXPECT_EQ(files.line(path, 5), "");
  EXPECT_EQ(files.line(path, 0), "");
}

TEST_F(SourceFilesTest, TheLongestEndOfThePathCounts) {
  const fs::path folder = write("new/kernel/a.c", "right\n").parent_path().parent_path();
  write("new/a.c", "wrong\n");
  SourceFiles files({.given = {folder}});
  EXPECT_EQ(files.line("/build/linux/kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("/build/linux/mm/a.c", 1), "wrong");
  EXPECT_EQ(files.line("/build/linux/arch/../kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("../../kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("/build/linux/kernel/b.c", 1), std::nullopt);
}

TEST_F(SourceFilesTest, GivenFoldersComeBeforeThePathItself) {
  const fs::path old = write("old/a.c", "old\n");
  const fs::path first = write("first/a.c", "first\n").parent_path();
  const fs::path second = write("second/a.c", "second\n").parent_path();
  const std::vector<fs::path> own = {dir_ / ""};
  EXPECT_EQ(SourceFiles({.own = own}).line(old, 1), "old");
  EXPECT_EQ(SourceFiles({.given = {second}, .own = own}).line(old, 1), "second");
  EXPECT_EQ(SourceFiles({.given = {first, second}, .own = own}).line(old, 1), "first");
}

// "outside" stands in all files that nothing may read.
TEST_F(SourceFilesTest, FilesOutsideOfTheFoldersAreNotRead) {
  const fs::path secret = write("secret/key", "outside\n");
  const fs::path own = write("tree/a.c", "inside\n").parent_path();
  const fs::path given = write("given/a.c", "inside\n").parent_path();
  fs::create_symlink(secret, own / "link.c");
  fs::create_symlink(secret, given / "link.c");
  fs::create_directory_symlink(secret.parent_path(), own / "folder");
  fs::create_symlink("a.c", own / "good.c");
  write("tree/.env", "outside\n");
  write("tree/.git/config", "outside\n");
  SourceFiles files({.given = {given}, .own = {own, "/", dir_ / "nothing"}});
  EXPECT_EQ(files.line(own / "a.c", 1), "inside");
  EXPECT_EQ(files.line(own / "good.c", 1), "inside");
  EXPECT_EQ(files.line(secret, 1), std::nullopt);
  EXPECT_EQ(files.line("/etc/passwd", 1), std::nullopt);
  for (const char* name : {"../secret/key", "folder/key", ".env", ".git/config", "link.c"})
    EXPECT_EQ(files.line(own / name, 1), std::nullopt) << name;
  EXPECT_EQ(files.line("/elsewhere/given/link.c", 1), std::nullopt);
  EXPECT_EQ(files.line("../secret/key", 1), std::nullopt);
}

TEST_F(SourceFilesTest, OnlyFilesOfSomeSizeAreRead) {
  SourceFiles files({.own = {"/dev", dir_ / ""}});
  EXPECT_EQ(files.line("/dev/zero", 1), std::nullopt);
  EXPECT_EQ(files.line(dir_ / "", 1), std::nullopt);
  EXPECT_EQ(files.line("", 1), std::nullopt);
  ASSERT_EQ(::mkfifo((dir_ / "pipe.c").c_str(), 0600), 0);
  EXPECT_EQ(files.line(dir_ / "pipe.c", 1), std::nullopt);
  const fs::path large = write("large.c", "x\n");
  fs::resize_file(large, 16 << 20);
  EXPECT_EQ(files.line(large, 1), "x");
  const fs::path larger = write("larger.c", "x\n");
  fs::resize_file(larger, (16 << 20) + 1);
  EXPECT_EQ(files.line(larger, 1), std::nullopt);
}

}  // namespace
}  // namespace ringside::annotation
