#include "project/project_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace ringside::project {
namespace {

using Words = std::vector<std::string>;

std::string error_of(std::string_view text) {
  const auto file = parse_project(text, "ringside.toml");
  return file ? "no error" : file.error().message;
}

TEST(ProjectFile, HoldsDefaultsVerbsAndProfiles) {
  const auto file = parse_project(R"(
kernel = "build/kernel.elf"
freq = 1000
interval = 0.5
qemu = ["qemu-system-x86_64", "-m", 512]
then-quit = true

[record]
output = "out.data"

[profile]
one-shot = false

[profile.release]
kernel = "release/kernel.elf"
[profile.release.record]
output = "release.data"
)",
                                  "ringside.toml");
  ASSERT_TRUE(file) << file.error().message;
  std::map<std::string, Setting> top;
  for (const Setting& setting : file->defaults.settings) top[setting.key] = setting;
  EXPECT_EQ(top.size(), 5u);
  EXPECT_EQ(std::get<std::string>(top["kernel"].value), "build/kernel.elf");
  EXPECT_EQ(top["kernel"].line, 2u);
  EXPECT_EQ(std::get<std::string>(top["freq"].value), "1000");
  EXPECT_EQ(std::get<std::string>(top["interval"].value), "0.5");
  EXPECT_EQ(std::get<Words>(top["qemu"].value), (Words{"qemu-system-x86_64", "-m", "512"}));
  EXPECT_EQ(std::get<bool>(top["then-quit"].value), true);
  ASSERT_EQ(file->defaults.verbs.count("record"), 1u);
  EXPECT_EQ(file->defaults.verbs.at("record").settings.at(0).line, 9u);
  EXPECT_EQ(file->defaults.verbs.at("profile").settings.at(0).key, "one-shot");
  ASSERT_EQ(file->profiles.size(), 1u);
  const Scope& release = file->profiles.at("release");
  EXPECT_EQ(std::get<std::string>(release.settings.at(0).value), "release/kernel.elf");
  EXPECT_EQ(release.verbs.at("record").settings.at(0).key, "output");
}

TEST(ProjectFile, ErrorsNameTheLine) {
  EXPECT_TRUE(error_of("a = 1\nb = \n").starts_with("ringside.toml:2: "));
  EXPECT_TRUE(error_of("a = 1\na = 2\n").starts_with("ringside.toml:2: "));
  EXPECT_TRUE(error_of("\n[profile\n").starts_with("ringside.toml:2: "));
  EXPECT_EQ(error_of("x = 2024-01-01"),
            "ringside.toml:1: 'x' is neither text, number, true or false, nor a list of those");
  EXPECT_EQ(error_of("\nx = [1, true]"), "ringside.toml:2: 'x' is a list of texts and numbers");
  EXPECT_EQ(error_of("x = nan"),
            "ringside.toml:1: 'x' is neither text, number, true or false, nor a list of those");
  EXPECT_TRUE(error_of("[record.more]\nx = 1").starts_with("ringside.toml:1: 'more' is neither"));
  EXPECT_NE(error_of(std::string(100'000, '[')), "no error");
  EXPECT_NE(error_of("x = " + std::string(100'000, '[')), "no error");
  EXPECT_NE(error_of("x = 99999999999999999999"), "no error");
  EXPECT_NE(error_of("x = \"\xff\""), "no error");
  EXPECT_EQ(error_of(""), "no error");
  EXPECT_TRUE(error_of("[[[x]]]").starts_with("ringside.toml:1: "));
}

TEST(ProjectFile, OnlyStringsAndCommentsAreBeyondAscii) {
  EXPECT_EQ(error_of("x = 'é' # é\n\"\\\"ü\" = \"\"\"\nß\"\n\"\"\"\n'ö' = 1"), "no error");
  const std::string expected = ": only texts in quotes and comments may be other than ASCII";
  EXPECT_EQ(error_of("\nx = é"), "ringside.toml:2" + expected);
  EXPECT_EQ(error_of("x = 1\u00a0\n"), "ringside.toml:1" + expected);
  EXPECT_EQ(error_of("x = \"\"\"a\n\"\"\"\né"), "ringside.toml:3" + expected);
}

TEST(ProjectFile, IsFoundInTheNearestFolderAbove) {
  std::string name = std::filesystem::temp_directory_path() / "ringside-project-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const std::filesystem::path root = name;
  std::filesystem::create_directories(root / "a/b/c");
  std::ofstream(root / "ringside.toml") << "";
  EXPECT_EQ(find_project(root / "a/b/c"), root / "ringside.toml");
  std::ofstream(root / "a/b/ringside.toml") << "";
  EXPECT_EQ(find_project(root / "a/b/c"), root / "a/b/ringside.toml");
  EXPECT_EQ(find_project(root / "a/b"), root / "a/b/ringside.toml");
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace ringside::project
