#include "annotation/source_files.h"

#include <gtest/gtest.h>

#include <fstream>

#include "recording/recording_test_util.h"

namespace ringside::annotation {
namespace {

namespace fs = std::filesystem;

class SourceFilesTest : public testing::Test {
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
  SourceFiles files({});
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
  SourceFiles files({folder});
  EXPECT_EQ(files.line("/build/linux/kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("/build/linux/mm/a.c", 1), "wrong");
  EXPECT_EQ(files.line("/build/linux/arch/../kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("../../kernel/a.c", 1), "right");
  EXPECT_EQ(files.line("/build/linux/kernel/b.c", 1), "");
}

TEST_F(SourceFilesTest, FoldersComeBeforeThePathItself) {
  const fs::path old = write("old/a.c", "old\n");
  const fs::path first = write("first/a.c", "first\n").parent_path();
  const fs::path second = write("second/a.c", "second\n").parent_path();
  EXPECT_EQ(SourceFiles({}).line(old, 1), "old");
  EXPECT_EQ(SourceFiles({second}).line(old, 1), "second");
  EXPECT_EQ(SourceFiles({first, second}).line(old, 1), "first");
}

TEST_F(SourceFilesTest, OnlyFilesOfSomeSizeAreRead) {
  SourceFiles files({});
  EXPECT_EQ(files.line("/dev/zero", 1), "");
  EXPECT_EQ(files.line(dir_ / "", 1), "");
  EXPECT_EQ(files.line("", 1), "");
  const fs::path large = write("large.c", "x\n");
  fs::resize_file(large, (16 << 20) + 1);
  EXPECT_EQ(files.line(large, 1), "");
}

}  // namespace
}  // namespace ringside::annotation
