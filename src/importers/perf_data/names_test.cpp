#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "importers/importers_test_util.h"
#include "importers/perf_data/perf_data.h"
#include "importers/perf_data/perf_data_test_util.h"

// Names that only this machine has, and where files are found.
namespace ringside::importers::perf_data {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Pair;
namespace fs = std::filesystem;

class Functions final : public recording::Visitor {
 public:
  void image(const recording::ImageInfo& value) override { images.push_back(value); }
  void function(const recording::ImageFunction& value) override {
    functions.emplace_back(images[value.image - 1].name + " " + value.name, value.address.value);
  }
  std::vector<recording::ImageInfo> images;
  std::vector<std::pair<std::string, std::uint64_t>> functions;
};

class PerfDataNamesTest : public ::testing::Test {
 protected:
  PerfDataNamesTest() {
    fs::create_directories(folder_);
    if (const char* const before = std::getenv("PERF_BUILDID_DIR")) before_ = before;
    ::setenv("PERF_BUILDID_DIR", (folder_ / "cache").c_str(), 1);
  }
  ~PerfDataNamesTest() override {
    if (before_.empty())
      ::unsetenv("PERF_BUILDID_DIR");
    else
      ::setenv("PERF_BUILDID_DIR", before_.c_str(), 1);
    fs::remove_all(folder_);
  }
  void write(const fs::path& path, std::string_view text) {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << text;
  }
  void read(const TestFile& file) {
    const std::string text = file.file();
    const Input input{(folder_ / "perf.data").string(), as_bytes(text), {}};
    FileTarget target(folder_ / "recording");
    const auto result = import_perf_data({&input, 1}, {}, target);
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_TRUE(target.finish());
    auto reader = recording::Reader::open(folder_ / "recording");
    ASSERT_TRUE(reader);
    ASSERT_TRUE(reader->for_each(found));
  }
  // A kernel that ran 0x19000000 above where it is linked, with a module.
  static TestFile moved_kernel() {
    TestFile file;
    file.feature(FeatureId::kArch, Body().sized_text("x86_64"))
        .feature(FeatureId::kBuildIds, Body().bytes(record(RecordType::kBuildId, kKernel,
                                                           Body()
                                                               .u32(kNobody)
                                                               .bytes(std::string(20, '\x12'))
                                                               .u32(0)
                                                               .text("[kernel.kallsyms]"))))
        .map(kKernel, kNobody, 0xffffffff9a000000, 0x1000, 0xffffffff9a000000,
             "[kernel.kallsyms]_text", 0)
        .map(kKernel, kNobody, 0xffffffffc0000000, 0x1000, 0, "[mod]", 0)
        .sample(kKernel, 0xffffffff9a000110, 7, 100)
        .sample(kKernel, 0xffffffffc0000010, 7, 110)
        .sample(kKernel, 0xffffffff9a800010, 7, 120);
    return file;
  }

  Functions found;
  fs::path folder_ = fs::temp_directory_path() / fmt::format("ringside-perf-names-{}", ::getpid());

 private:
  std::string before_;
};

constexpr std::string_view kKallsymsAtLinkAddresses =
    "ffffffff81000000 T _text\n"
    "ffffffff81000100 t used_function\n"
    "ffffffff81000200 T behind_it\n"
    "ffffffff81800000 t initial_function\n"
    "ffffffffc0000000 t function_of_module\t[mod]\n";
// The directory of the build id of twenty bytes 0x12.
constexpr const char* kKallsyms =
    "cache/.build-id/12/12121212121212121212121212121212121212/kallsyms";

TEST_F(PerfDataNamesTest, OfAKernelComeFromPerfsCache) {
  write(kKallsyms, kKallsymsAtLinkAddresses);
  read(moved_kernel());
  EXPECT_THAT(found.functions, Contains(Pair("kernel used_function", 0xffffffff81000100)));
  // Behind the end that MMAP says.
  EXPECT_THAT(found.functions, Contains(Pair("kernel initial_function", 0xffffffff81800000)));
  EXPECT_EQ(found.images[0].load_bias, 0x19000000);
  EXPECT_TRUE(found.images[0].path.empty());
  // The module was elsewhere when the list was made.
  EXPECT_THAT(found.functions,
              ::testing::Not(Contains(Pair("mod function_of_module", ::testing::_))));
}

TEST_F(PerfDataNamesTest, OfModulesComeFromAListOfTheSameBoot) {
  std::string text(kKallsymsAtLinkAddresses);
  for (std::size_t at; (at = text.find("ffffffff81")) != std::string::npos;)
    text.replace(at, 10, "ffffffff9a");
  write(kKallsyms, text);
  read(moved_kernel());
  EXPECT_THAT(found.functions, Contains(Pair("kernel used_function", 0xffffffff81000100)));
  EXPECT_THAT(found.functions, Contains(Pair("mod function_of_module", 0xffffffffc0000000)));
}

TEST_F(PerfDataNamesTest, OfCodeMadeAtRunTimeComeFromItsMap) {
  const std::uint32_t pid = static_cast<std::uint32_t>(::getpid());
  const fs::path map = fmt::format("/tmp/perf-{}.map", pid);
  std::ofstream(map) << "7f0000000000 100 LazyCompile:~run file.js:1\n7f0000000100 20 other\n";
  TestFile file;
  file.map(kUser, pid, 0x7f0000000000, 0x1000, 0, "//anon", 0)
      .sample(kUser, 0x7f0000000010, pid, 100)
      .sample(kUser, 0x7f0000000020, pid, 110);
  read(file);
  fs::remove(map);
  EXPECT_THAT(found.functions,
              ElementsAre(Pair(fmt::format("[JIT] tid {} LazyCompile:~run file.js:1", pid),
                               0x7f0000000000)));
}

// Java's jcmd Compiler.perfmap writes such lines.
TEST_F(PerfDataNamesTest, OfAMapMayHave0xInFrontOfNumbers) {
  const std::uint32_t pid = static_cast<std::uint32_t>(::getpid());
  const fs::path map = fmt::format("/tmp/perf-{}.map", pid);
  std::ofstream(map) << "0x00007f0000000000 0x0000000000000100 long W.leaf(int)\n"
                        "0X7f0000000100 0X20 next\n";
  TestFile file;
  file.map(kUser, pid, 0x7f0000000000, 0x1000, 0, "//anon", 0)
      .sample(kUser, 0x7f00000000ff, pid, 100)
      .sample(kUser, 0x7f0000000110, pid, 110)
      .sample(kUser, 0x7f0000000120, pid, 120);
  read(file);
  fs::remove(map);
  const std::string image = fmt::format("[JIT] tid {} ", pid);
  EXPECT_THAT(found.functions, ElementsAre(Pair(image + "long W.leaf(int)", 0x7f0000000000),
                                           Pair(image + "next", 0x7f0000000100)));
}

TEST_F(PerfDataNamesTest, OfAProgramComeFromItsCopyByBuildId) {
  const std::string self = fs::canonical("/bin/true");
  const auto file = elf::ElfFile::open(self);
  ASSERT_TRUE(file);
  const std::string id = (*file)->build_id_hex();
  if (id.size() != 40) GTEST_SKIP() << self << " has no build id";
  const fs::path entry = folder_ / "cache" / ".build-id" / id.substr(0, 2) / id.substr(2);
  fs::create_directories(entry);
  fs::create_symlink(self, entry / "elf");
  const Bytes bytes = (*file)->build_id();
  TestFile perf;
  perf.add(record(RecordType::kMmap2, kUser | kMiscBuildId,
                  Body()
                      .u32(7)
                      .u32(7)
                      .words({0x400000, 0x1000, 0})
                      .u32(20)
                      .bytes({reinterpret_cast<const char*>(bytes.data()), bytes.size()})
                      .u32(5)
                      .u32(2)
                      .text("/gone/since/then")
                      .bytes(TestFile::trailer(7, 10))))
      .sample(kUser, 0x400010, 7, 20);
  read(perf);
  ASSERT_EQ(found.images.size(), 1);
  EXPECT_EQ(found.images[0].name, "then");
  EXPECT_EQ(found.images[0].path, entry / "elf");
}

}  // namespace
}  // namespace ringside::importers::perf_data
