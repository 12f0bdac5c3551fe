#include "plugin/stand_alone/output_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace ringside::plugin {
namespace {

class OutputFileTest : public ::testing::Test {
 protected:
  OutputFileTest() {
    std::string name = std::filesystem::temp_directory_path() / "ringside-output-XXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  ~OutputFileTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] static bool opens(const std::filesystem::path& path) {
    OutputFile file;
    return file.open(path, OutFormat::kRingside, {});
  }
  [[nodiscard]] static mode_t mode_of(const std::filesystem::path& path) {
    struct stat info {};
    EXPECT_EQ(::stat(path.c_str(), &info), 0);
    return info.st_mode & 0777;
  }

  std::filesystem::path folder_;
};

TEST_F(OutputFileTest, IsForItsOwnerAlone) {
  ASSERT_TRUE(opens(folder_ / "new"));
  EXPECT_EQ(mode_of(folder_ / "new"), 0600u);
  std::ofstream(folder_ / "older") << "older";
  std::filesystem::permissions(folder_ / "older", std::filesystem::perms(0644));
  ASSERT_TRUE(opens(folder_ / "older"));
  EXPECT_EQ(mode_of(folder_ / "older"), 0600u);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "older"), sizeof(wire::SampleFileHeader));
}

TEST_F(OutputFileTest, IsNeverReachedThroughALink) {
  std::ofstream(folder_ / "precious") << "precious";
  std::filesystem::create_symlink(folder_ / "precious", folder_ / "link");
  std::filesystem::create_symlink(folder_ / "gone", folder_ / "dangling");
  EXPECT_FALSE(opens(folder_ / "link"));
  EXPECT_FALSE(opens(folder_ / "dangling"));
  EXPECT_EQ(std::filesystem::file_size(folder_ / "precious"), 8u);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "gone"));
}

TEST_F(OutputFileTest, ADeviceIsWrittenAsItIs) {
  EXPECT_TRUE(opens("/dev/null"));
  EXPECT_EQ(mode_of("/dev/null"), 0666u);
}

}  // namespace
}  // namespace ringside::plugin
