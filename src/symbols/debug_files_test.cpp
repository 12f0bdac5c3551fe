#include "symbols/debug_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>

// Covers cases beyond symbolizer_test.cpp: files that are not to be taken, MiniDebugInfo, and
// debuginfod. The files are made by binutils out of programs of dwarf/programs.cmake.
namespace ringside::symbols {
namespace {

namespace fs = std::filesystem;

class DebugFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  // Runs commands in the test's own folder; $PROGRAMS is where the programs are.
  void run(const std::string& commands) {
    const std::string line = fmt::format("set -e; PROGRAMS='{}'; cd '{}'; {}",
                                         RINGSIDE_DWARF_FOLDER, folder_.string(), commands);
    ASSERT_EQ(std::system(line.c_str()), 0) << line;
  }
  [[nodiscard]] std::shared_ptr<const elf::ElfFile> open(const std::string& name) const {
    auto file = elf::ElfFile::open(folder_ / name);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *file : nullptr;
  }
  [[nodiscard]] DebugFiles files() const { return DebugFiles({.folders = {folder_ / "debug"}}); }

  fs::path folder_ = fs::path(::testing::TempDir()) /
                     fmt::format("debug_files_test.{}.{}", ::getpid(),
                                 ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

constexpr const char* kWithoutId =
    "objcopy --remove-section .note.gnu.build-id $PROGRAMS/gcc_c_5 plain;"
    "objcopy --only-keep-debug plain plain.debug;"
    "objcopy -S --add-gnu-debuglink=plain.debug plain program;";

TEST_F(DebugFilesTest, ALinkWithoutABuildIdHoldsByItsChecksum) {
  run(kWithoutId);
  const auto file = open("program");
  ASSERT_TRUE(file->build_id().empty());
  EXPECT_NE(files().separate(*file), nullptr);
  run("printf x >> plain.debug");
  EXPECT_EQ(files().separate(*file), nullptr);
}

TEST_F(DebugFilesTest, AnotherBuildIsNotTaken) {
  run("objcopy --only-keep-debug $PROGRAMS/gcc_c_4 link.debug;"
      "objcopy -S --add-gnu-debuglink=link.debug $PROGRAMS/gcc_c_5 program;"
      "mkdir -p debug/$PWD; cp link.debug debug/$PWD/program.debug");
  const auto file = open("program");
  ASSERT_FALSE(file->build_id().empty());
  const std::string id = file->build_id_hex();
  EXPECT_EQ(files().separate(*file), nullptr);
  run(fmt::format("mkdir -p debug/.build-id/{0}; cp link.debug debug/.build-id/{0}/{1}.debug",
                  id.substr(0, 2), id.substr(2)));
  EXPECT_EQ(files().separate(*file), nullptr);
  run("objcopy --only-keep-debug $PROGRAMS/gcc_c_5 debug/$PWD/program.debug");
  EXPECT_NE(files().separate(*file), nullptr);
}

TEST_F(DebugFilesTest, ALinkIsANameInTheFoldersOnly) {
  run("mkdir inner; objcopy --only-keep-debug $PROGRAMS/gcc_c_5 outer.debug;"
      "objcopy -S --add-gnu-debuglink=outer.debug $PROGRAMS/gcc_c_5 program;"
      "printf '../outer.debug\\0\\0' > link;"
      "objcopy -O binary --only-section=.gnu_debuglink --set-section-flags "
      ".gnu_debuglink=alloc program old; tail -c 4 old >> link;"
      "objcopy --update-section .gnu_debuglink=link program inner/program");
  EXPECT_NE(files().separate(*open("program")), nullptr);
  EXPECT_EQ(files().separate(*open("inner/program")), nullptr);
}

TEST_F(DebugFilesTest, MiniDebugInfoNamesFunctions) {
  // As gdb's manual makes it ("MiniDebugInfo").
  run("nm -f posix --defined-only $PROGRAMS/gcc_c_5 > names;"
      "awk '$2 ~ /^[tT]$/ {print $1}' names > keep;"
      "objcopy --only-keep-debug $PROGRAMS/gcc_c_5 debug_only;"
      "objcopy -S --keep-symbols=keep debug_only mini; xz mini;"
      "objcopy -S --add-section .gnu_debugdata=mini.xz $PROGRAMS/gcc_c_5 program");
  const auto file = open("program");
  ASSERT_TRUE(file->symbols().empty());
  Symbolizer symbolizer = open_symbolizer(file, {.folders = {}}, Inlines::kShow);
  std::map<std::uint64_t, std::vector<std::string>> names;  // nm's
  std::ifstream list(folder_ / "names");
  for (std::string name, type, value, rest; list >> name >> type >> value;) {
    std::getline(list, rest);
    if (type == "t" || type == "T") names[std::stoull(value, nullptr, 16)].push_back(name);
  }
  ASSERT_GT(names.size(), 5u);
  for (const auto& [address, known] : names) {
    const auto frames = symbolizer.lookup({address});
    ASSERT_EQ(frames.size(), 1u) << known[0];
    EXPECT_NE(std::find(known.begin(), known.end(), frames[0].function), known.end()) << known[0];
  }
}

TEST_F(DebugFilesTest, DamagedMiniDebugInfoIsNone) {
  run("head -c 100 /dev/urandom > noise;"
      "objcopy -S --add-section .gnu_debugdata=noise $PROGRAMS/gcc_c_5 program");
  EXPECT_TRUE(open_symbolizer(open("program"), {.folders = {}}, Inlines::kShow).empty());
}

TEST_F(DebugFilesTest, DebuginfodIsAskedOnlyWhenWanted) {
  const auto id = elf::ElfFile::open(std::string(RINGSIDE_DWARF_FOLDER) + "/gcc_c_5");
  ASSERT_TRUE(id);
  // A server's answers as files: /buildid/ID/debuginfo.
  run(
      fmt::format("mkdir -p cache server/buildid/{0};"
                  "objcopy --only-keep-debug $PROGRAMS/gcc_c_5 server/buildid/{0}/debuginfo;"
                  "strip -s -o program $PROGRAMS/gcc_c_5",
                  (*id)->build_id_hex()));
  ::setenv("DEBUGINFOD_URLS", ("file://" + (folder_ / "server").string()).c_str(), 1);
  ::setenv("DEBUGINFOD_CACHE_PATH", (folder_ / "cache").c_str(), 1);
  const auto file = open("program");
  EXPECT_EQ(files().separate(*file), nullptr);
  EXPECT_FALSE(fs::exists(folder_ / "cache" / (*id)->build_id_hex()));
  DebugFiles wanted({.folders = {}, .debuginfod = true});
  const auto found = wanted.separate(*file);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->build_id_hex(), file->build_id_hex());
  ::unsetenv("DEBUGINFOD_URLS");
  EXPECT_EQ(wanted.separate(*file), nullptr);
}

}  // namespace
}  // namespace ringside::symbols
