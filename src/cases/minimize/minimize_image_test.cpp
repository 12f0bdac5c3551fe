#include "cases/minimize/minimize_image.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>

namespace ringside::cases {
namespace {

namespace fs = std::filesystem;

std::string run(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             &::pclose);
  std::string text;
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) text += buffer;
  return text;
}

// readelf's table of each FDE, by the address of its function.
std::map<std::uint64_t, std::string> frame_tables(const fs::path& file) {
  std::istringstream lines(
      run("LC_ALL=C readelf -W --debug-dump=frames-interp " + file.string() + " 2>/dev/null"));
  std::map<std::uint64_t, std::string> tables;
  std::string* table = nullptr;
  for (std::string line; std::getline(lines, line);) {
    const std::size_t at = line.find(" FDE ");
    if (line.find(" CIE") != std::string::npos || line.empty()) table = nullptr;
    if (at != std::string::npos) {
      const std::size_t pc = line.find("pc=");
      table = &tables[std::stoull(line.substr(pc + 3), nullptr, 16)];
      *table = line.substr(pc);
    } else if (table != nullptr) {
      *table += "\n" + line;
    }
  }
  return tables;
}

class MinimizeImage : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ringside-minimize-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};

// A second reader finds in the minimized file, at the same addresses, what it finds in the whole
// one.
TEST_P(MinimizeImage, ReadelfSaysTheSameOfWhatIsKept) {
  const fs::path whole_path = fs::path(RINGSIDE_STEP_PROGRAMS) / GetParam();
  const auto whole = elf::ElfFile::open(whole_path);
  ASSERT_TRUE(whole) << whole.error().message;
  const auto before = frame_tables(whole_path);
  std::vector<elf::FunctionSymbol> functions;
  for (const elf::FunctionSymbol& symbol : (*whole)->symbols())
    if (symbol.is_function && symbol.size > 8 && before.contains(symbol.address.value))
      functions.push_back(symbol);
  ASSERT_GE(functions.size(), 4u);
  const elf::FunctionSymbol& first = functions[1];
  const elf::FunctionSymbol& second = functions[functions.size() - 2];
  const std::vector<ImageAddr> code = {first.address + 3, second.address + second.size - 1};

  const std::vector<std::byte> bytes = minimize_image(*whole, code);
  const fs::path small_path = folder_ / "small.elf";
  std::ofstream(small_path, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  EXPECT_LT(bytes.size(), (*whole)->file_bytes().size() / 2);
  EXPECT_EQ(run("LC_ALL=C readelf -aW " + small_path.string() + " 2>&1 >/dev/null"), "");

  const auto after = frame_tables(small_path);
  ASSERT_GT(before.size(), after.size());
  EXPECT_TRUE(after.contains(first.address.value));
  EXPECT_TRUE(after.contains(second.address.value));
  for (const auto& [address, table] : after)
    EXPECT_TRUE(before.contains(address) && before.at(address) == table) << table;

  const auto small = elf::ElfFile::open(small_path);
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ((*small)->arch(), (*whole)->arch());
  std::size_t kept_bytes = 0;
  for (const elf::Segment& segment : (*whole)->segments())
    for (ImageAddr at = segment.address; segment.contains(at); at = at + 1) {
      ASSERT_EQ((*small)->is_code(at), (*whole)->is_code(at)) << at.value;
      const Bytes kept = (*small)->bytes_at(at, 1);
      kept_bytes += kept.size();
      if (!kept.empty()) {
        ASSERT_EQ(kept[0], (*whole)->bytes_at(at, 1)[0]) << at.value;
      }
    }
  EXPECT_GE(kept_bytes, first.size + second.size);
  for (const elf::FunctionSymbol* symbol : {&first, &second}) {
    EXPECT_EQ((*small)->bytes_at(symbol->address, symbol->size).size(), symbol->size);
    const std::string line =
        fmt::format("{:016x} {:016x} [aA] {}", symbol->address.value, symbol->size, symbol->name);
    EXPECT_EQ(run(fmt::format("nm -S {} | grep -c '^{}$'", small_path.string(), line)), "1\n")
        << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, MinimizeImage,
                         ::testing::Values("step_gcc_cfi_O2", "step_gcc_cfi_O0",
                                           "step_gcc_debug_frame"));

}  // namespace
}  // namespace ringside::cases
