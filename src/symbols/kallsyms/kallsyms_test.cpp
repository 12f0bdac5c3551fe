#include "symbols/kallsyms/kallsyms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>
#include <set>

#include "kernel_image/boot_image.h"

namespace ringside::symbols::kallsyms {
namespace {

struct Line {
  std::uint64_t address;
  char type;
  std::string name;
  auto operator<=>(const Line&) const = default;
};

std::vector<Line> read_nm(const std::filesystem::path& path) {
  std::vector<Line> lines;
  std::ifstream stream(path);
  Line line;
  while (stream >> std::hex >> line.address >> line.type >> line.name) lines.push_back(line);
  return lines;
}

std::vector<Line> lines_of(const SymbolList& list) {
  std::vector<Line> lines;
  for (const ListedSymbol& symbol : list.symbols)
    lines.push_back({symbol.address.value, symbol.type, std::string(symbol.name)});
  return lines;
}

std::vector<std::byte> bytes_of(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path).value();
  return {file->bytes().begin(), file->bytes().end()};
}

struct Layout {
  const char* name;
  Encoding encoding;
};

// Images that testdata/encode_kallsyms.py makes.
class KallsymsLayout : public ::testing::TestWithParam<Layout> {
 protected:
  std::filesystem::path path_ = std::string(RINGSIDE_KALLSYMS_IMAGES) + "/" + GetParam().name;
  std::vector<std::byte> bytes_ = bytes_of(path_.string() + ".img");
  bool is_64_ = path_.string().find("-64") != std::string::npos;
  unsigned pointer_size_ = is_64_ ? 8 : 4;
  std::uint64_t address_ = is_64_ ? 0xffffffff81000000 : 0xc1000000;
};

TEST_P(KallsymsLayout, EverySymbolIsDecoded) {
  const auto tables = find_tables(bytes_, pointer_size_);
  ASSERT_TRUE(tables) << tables.error().message;
  EXPECT_EQ(tables->addresses.encoding, GetParam().encoding);
  const auto list = decode(bytes_, *tables, address_, address_);
  ASSERT_TRUE(list) << list.error().message;
  const auto expected = read_nm(path_.string() + ".txt");
  ASSERT_GT(expected.size(), 2999u);
  EXPECT_EQ(lines_of(*list), expected);
  EXPECT_EQ(list->address_of(expected[1234].name)->value, expected[1234].address);
  EXPECT_FALSE(list->address_of("no_such_symbol"));
}

TEST_P(KallsymsLayout, NoDamageCrashes) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    auto bytes = bytes_;
    for (int i = 0; i < 3; ++i) {
      const std::size_t at = random() % bytes.size();
      bytes[at] = static_cast<std::byte>(random());
    }
    const auto tables = find_tables(bytes, pointer_size_);
    if (tables) (void)decode(bytes, *tables, address_, address_);
  }
  for (std::size_t size = bytes_.size(); size > 0x20000; size -= 0x933)
    if (const auto tables = find_tables(Bytes(bytes_).first(size), pointer_size_))
      (void)decode(Bytes(bytes_).first(size), *tables, address_, address_);
}

INSTANTIATE_TEST_SUITE_P(Versions, KallsymsLayout,
                         ::testing::Values(Layout{"4.4-64-absolute", Encoding::kAbsolute},
                                           Layout{"4.4-64-absolute-align256", Encoding::kAbsolute},
                                           Layout{"4.4-32-absolute", Encoding::kAbsolute},
                                           Layout{"4.6-64-percpu", Encoding::kPercpuAbsolute},
                                           Layout{"4.6-64-align256", Encoding::kBaseRelative},
                                           Layout{"4.6-32", Encoding::kBaseRelative},
                                           Layout{"4.20-64-percpu", Encoding::kPercpuAbsolute},
                                           Layout{"4.20-64-absolute", Encoding::kAbsolute},
                                           Layout{"4.20-32", Encoding::kBaseRelative},
                                           Layout{"6.1-64-percpu", Encoding::kPercpuAbsolute},
                                           Layout{"6.1-64-unrelocated", Encoding::kBaseRelative},
                                           Layout{"6.2-64-percpu", Encoding::kPercpuAbsolute},
                                           Layout{"6.2-64", Encoding::kBaseRelative},
                                           Layout{"6.2-32", Encoding::kBaseRelative},
                                           Layout{"6.4-64-percpu", Encoding::kPercpuAbsolute},
                                           Layout{"6.4-64-unrelocated", Encoding::kBaseRelative},
                                           Layout{"6.4-64-absolute", Encoding::kAbsolute},
                                           Layout{"6.4-32", Encoding::kBaseRelative},
                                           Layout{"7.0-64", Encoding::kPlaceRelative},
                                           Layout{"7.0-32", Encoding::kPlaceRelative},
                                           Layout{"7.0-32-value", Encoding::kAbsolute}),
                         [](const auto& layout) {
                           std::string name = layout.param.name;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return c == '.' || c == '-'; }, '_');
                           return name;
                         });

TEST(Kallsyms, SaysWhatIsMissing) {
  const std::vector<std::byte> nothing(0x10000);
  EXPECT_EQ(
      find_tables(nothing, 8).error().message,
      "no kallsyms in 0x10000 bytes: no token table (a kernel without CONFIG_KALLSYMS, or not "
      "a Linux kernel)");
  EXPECT_FALSE(find_tables({}, 8));
  auto bytes = bytes_of(std::string(RINGSIDE_KALLSYMS_IMAGES) + "/6.4-64-percpu.img");
  const auto tables = find_tables(bytes, 8).value();
  bytes[tables.names.count_at] ^= std::byte{1};
  EXPECT_NE(find_tables(bytes, 8).error().message.find("no table of names"), std::string::npos);
  bytes[tables.names.count_at] ^= std::byte{1};
  std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(tables.addresses.begin), 4000,
              std::byte{0x80});
  EXPECT_NE(find_tables(bytes, 8).error().message.find("no table of addresses"), std::string::npos);
}

// Debian's kernels, where script/fetch-linux-guest has left one: each symbol is System.map's, and
// all of .text is there. Per-CPU symbols of x86_64 are "A" in kallsyms (make_percpus_absolute).
TEST(Kallsyms, DebianKernels) {
  const char* home = std::getenv("HOME");
  const std::filesystem::path cache = std::string(home == nullptr ? "" : home) + "/.cache/ringside";
  int kernels = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(cache, ignored)) {
    const auto folder = entry.path().parent_path();
    if (entry.path().filename() != "vmlinuz" || !std::filesystem::exists(folder / "System.map"))
      continue;
    ++kernels;
    SCOPED_TRACE(folder.string());
    const auto file = bytes_of(entry.path());
    const auto image = kernel_image::read_boot_image(file, "vmlinuz");
    ASSERT_TRUE(image) << image.error().message;
    Result<SymbolList> list = fail(ErrorCode::kNotFound, "not tried");
    if (image->kind == kernel_image::PayloadKind::kElf) {
      list = symbols_of(*elf::ElfFile::from_bytes(image->bytes, "vmlinux").value());
    } else {
      const auto tables = find_tables(image->bytes, 8);
      ASSERT_TRUE(tables) << tables.error().message;
      const auto linked = link_address(image->bytes, *tables, image->text_offset);
      ASSERT_TRUE(linked);
      list = decode(image->bytes, *tables, linked->image, linked->relative_base);
    }
    ASSERT_TRUE(list) << list.error().message;

    const auto map = read_nm(folder / "System.map");
    const std::set<Line> known(map.begin(), map.end());
    const auto lines = lines_of(*list);
    const std::set<Line> found(lines.begin(), lines.end());
    for (const Line& line : lines) EXPECT_TRUE(line.type == 'A' || known.count(line)) << line.name;
    const auto etext = list->address_of("_etext");
    const auto stext = list->address_of("_stext");
    ASSERT_TRUE(stext && etext);
    std::size_t functions = 0;
    for (const Line& line : map) {
      if (line.address < stext->value || line.address >= etext->value) continue;
      // kallsyms leaves mapping symbols and the EFI stub's aliases out (scripts/kallsyms.c, 6.1:
      // is_ignored_symbol).
      if ((line.type != 't' && line.type != 'T') || line.name.find('$') != std::string::npos ||
          line.name.starts_with("__efistub_"))
        continue;
      ++functions;
      EXPECT_TRUE(found.count(line)) << line.name;
    }
    EXPECT_GT(functions, 30000u);
  }
  if (kernels == 0) GTEST_SKIP() << "no kernel in " << cache << " (script/fetch-linux-guest)";
}

}  // namespace
}  // namespace ringside::symbols::kallsyms
