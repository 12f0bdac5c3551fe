#include "launch/plugin/plugin_choice.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "launch/private_folder.h"
#include "launch/qemu/qemu_binary.h"

namespace ringside::launch {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMost = PluginApi().newest;
const std::vector<PluginFile> kFamily{
    {"/p/libringside-tcg-7.so", 7}, {"/p/libringside-tcg-6.so", 6}, {"/p/libringside-tcg.so", 4}};

class Choice : public ::testing::Test {
 protected:
  Choice() : folder_(*PrivateFolder::create()), cache_(folder_.path() / "a/b/plugin-api.json") {}

  fs::path put(const fs::path& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  // A program that cannot be run, but of which the cache has an answer.
  fs::path qemu_that_said(PluginApi api) const {
    const fs::path qemu = put("qemu-system-x86_64",
                              "\x7f"
                              "ELF");
    cache_.keep(qemu, api);
    return qemu;
  }
  PluginChoice choose(PluginApi api, const std::vector<PluginFile>& family = kFamily) const {
    return choose_plugin(qemu_that_said(api), QemuVersion{99, 0, 0}, family, cache_);
  }

  PrivateFolder folder_;
  PluginApiCache cache_;
};

TEST(PluginFiles, AreFoundBesideTheProgram) {
  auto folder = PrivateFolder::create();
  ASSERT_TRUE(folder);
  ::unsetenv("RINGSIDE_PLUGIN");
  const auto root = folder->path();
  const auto put = [&](const std::filesystem::path& path) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << "x";
    return path;
  };
  EXPECT_EQ(find_plugin(root / "bin/ringside"), "");
  const auto installed = put(root / "lib/x86_64-linux-gnu/ringside/libringside-tcg.so");
  EXPECT_EQ(find_plugin(root / "bin/ringside"), installed);
  const auto built = put(root / "build/plugin/libringside-tcg.so");
  EXPECT_EQ(find_plugin(root / "build/ringside"), built);
  ::setenv("RINGSIDE_PLUGIN", built.c_str(), 1);
  EXPECT_EQ(find_plugin(root / "bin/ringside"), built);
  ::setenv("RINGSIDE_PLUGIN", (root / "gone").c_str(), 1);
  EXPECT_EQ(find_plugin(root / "bin/ringside"), "");
  ::unsetenv("RINGSIDE_PLUGIN");
}

TEST_F(Choice, ADamagedCacheIsRemovedAndMadeAnew) {
  const fs::path file = folder_.path() / "a/b/plugin-api.json";
  const fs::path qemu = qemu_that_said({4, 5});
  std::stringstream kept;
  kept << std::ifstream(file).rdbuf();
  const std::string text = kept.str();
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string damaged = text;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    std::ofstream(file) << damaged;
    EXPECT_FALSE(cache_.find(qemu)) << damaged;
    EXPECT_FALSE(fs::exists(file)) << damaged;
  }
  for (std::size_t size = 0; size < text.size(); ++size) {
    std::ofstream(file) << text.substr(0, size);
    EXPECT_FALSE(cache_.find(qemu)) << size;
  }
  qemu_that_said({4, 5});
  const auto found = cache_.find(qemu);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->newest, 5u);
}

TEST_F(Choice, AFamilyIsWhatLiesBesideTheFirst) {
  EXPECT_TRUE(plugin_family({}).empty());
  const fs::path first = put("libringside-tcg.so", "x");
  for (const char* name : {"libringside-tcg-6.so", "libringside-tcg-12.so", "libringside-tcg-x.so",
                           "libringside-tcg-7.so.bak", "other-9.so"})
    put(name, "x");
  std::vector<unsigned> versions;
  for (const PluginFile& plugin : plugin_family(first)) versions.push_back(plugin.api);
  EXPECT_EQ(versions, (std::vector<unsigned>{12, 6, 4}));
  const auto alone = plugin_family("/p/libringside-tcg-7.so");
  ASSERT_EQ(alone.size(), 1u);
  EXPECT_EQ(alone[0].api, 7u);
  EXPECT_EQ(plugin_family("/p/mine.so")[0].api, 4u);
}

TEST(PluginAnswer, IsReadFromWhatEachQemuPrints) {
  const std::string refusal = "qemu-system-x86_64: Could not load plugin /p/x.so: ";
  // QEMU 10.0.2 and 11.1.3.
  EXPECT_EQ(
      *parse_plugin_answer(
          "ringside-plugin-api 2 4\n" + refusal + "qemu_plugin_install returned error code 1\n", 4),
      (PluginApi{2, 4}));
  EXPECT_EQ(*parse_plugin_answer(refusal + "plugin requires API version 7, but this QEMU supports "
                                           "only up to version 4\n",
                                 7),
            (PluginApi{0, 4}));
  EXPECT_EQ(*parse_plugin_answer(refusal + "plugin requires API version 4, but this QEMU supports "
                                           "only a minimum version of 7\n",
                                 4),
            (PluginApi{7, kMost}));
  // QEMU 7.2.22, and one that is built without plugins.
  EXPECT_EQ(
      *parse_plugin_answer(refusal + "/p/x.so: undefined symbol: qemu_plugin_scoreboard_new\n", 4),
      (PluginApi{0, 3}));
  EXPECT_EQ(*parse_plugin_answer("qemu-system-x86_64: -plugin: invalid option\n", 4),
            (PluginApi{0, 0}));
  const auto damaged = parse_plugin_answer(refusal + "file too short\nmore\n", 4);
  EXPECT_EQ(damaged.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(damaged.error().message, "Could not load plugin /p/x.so: file too short");
  for (const char* strange :
       {"", "hello", "ringside-plugin-api", "ringside-plugin-api 2", "ringside-plugin-api x y"})
    EXPECT_EQ(parse_plugin_answer(strange, 4).error().code, ErrorCode::kFormat) << strange;
}

TEST_F(Choice, TheNewestThatIsAccepted) {
  EXPECT_EQ(choose({2, 5}).file.api, 4u);
  EXPECT_EQ(choose({2, 6}).file.api, 6u);
  EXPECT_EQ(choose({7, 7}).file.path, "/p/libringside-tcg-7.so");
  EXPECT_EQ(choose({4, 9}).file.api, 7u);
}

TEST_F(Choice, SaysWhyThereIsNone) {
  const PluginChoice newer = choose({9, kMost});
  EXPECT_TRUE(newer.file.path.empty());
  EXPECT_EQ(newer.why,
            "QEMU 99.0.0 loads plugins for version 9 of its API and later, and the newest TCG "
            "plugin here is for 7");
  EXPECT_NE(newer.better.find("newer ringside"), std::string::npos);
  EXPECT_EQ(choose({0, 0}).why, "QEMU 99.0.0 is built without plugins");
  EXPECT_EQ(choose({0, 3}).why, "QEMU 99.0.0 loads no plugin for version 4 of its API");
  EXPECT_NE(choose({7, 7}, {}).better.find("RINGSIDE_PLUGIN"), std::string::npos);
  const auto old = choose_plugin("x", QemuVersion{7, 2, 22}, kFamily, cache_);
  EXPECT_EQ(old.why, "QEMU 7.2.22 found; the TCG plugin needs 9.2");
  EXPECT_NE(old.better.find("bookworm-backports"), std::string::npos);
}

TEST_F(Choice, AQemuThatCannotBeAskedHasWhatItsVersionHas) {
  const std::string script = put("wrapper", "#!/bin/sh\nexec $QEMU -m 1G\n");
  const auto by_version = [&](std::optional<QemuVersion> version) {
    const auto choice = choose_plugin(script, version, kFamily, cache_);
    EXPECT_FALSE(choice.was_asked && choice.why.empty());
    return choice.file.api;
  };
  EXPECT_EQ(by_version(QemuVersion{9, 2, 0}), 4u);
  EXPECT_EQ(by_version(QemuVersion{10, 2, 1}), 4u);
  EXPECT_EQ(by_version(QemuVersion{11, 0, 0}), 6u);
  EXPECT_EQ(by_version(QemuVersion{11, 1, 3}), 7u);
  EXPECT_EQ(by_version(QemuVersion{11, 2, 0}), 0u);
  EXPECT_EQ(by_version(std::nullopt), 0u);
}

TEST_F(Choice, AnAnswerHoldsForOneFile) {
  const fs::path qemu = qemu_that_said({2, 4});
  fs::create_symlink(qemu, folder_.path() / "link");
  EXPECT_EQ(cache_.find(folder_.path() / "link"), (PluginApi{2, 4}));
  fs::last_write_time(qemu, fs::last_write_time(qemu) + std::chrono::seconds(1));
  EXPECT_EQ(cache_.find(qemu), std::nullopt);
  cache_.keep(qemu, {7, 7});
  EXPECT_EQ(cache_.find(qemu), (PluginApi{7, 7}));
  std::ofstream(folder_.path() / "a/b/plugin-api.json") << "{\"x\": 3}";
  EXPECT_EQ(cache_.find(qemu), std::nullopt);
  const PluginApiCache nowhere{fs::path("/dev/null/x")};
  nowhere.keep(qemu, {7, 7});
  EXPECT_EQ(nowhere.find(qemu), std::nullopt);
}

TEST_F(Choice, AQemuIsFoundBehindAScript) {
  const std::string elf = put("real/qemu-system-x86_64",
                              "\x7f"
                              "ELF");
  const std::string other = put("real/qemu-system-arm",
                                "\x7f"
                                "ELF");
  EXPECT_EQ(find_qemu_binary(elf), elf);
  EXPECT_EQ(find_qemu_binary(put("one", "#!/bin/sh\nexec '" + elf + "' -m 1G \"$@\"\n")), elf);
  EXPECT_EQ(find_qemu_binary(put("two", "#!/bin/sh\n" + elf + " || " + other)), std::nullopt);
  EXPECT_EQ(find_qemu_binary(put("none", "#!/bin/sh\nexec $QEMU\n")), std::nullopt);
  EXPECT_EQ(find_qemu_binary(put("text", "exec " + elf)), std::nullopt);
  EXPECT_EQ(find_qemu_binary("/nonexistent/qemu"), std::nullopt);
  EXPECT_EQ(find_qemu_binary(folder_.path()), std::nullopt);
}

}  // namespace
}  // namespace ringside::launch
