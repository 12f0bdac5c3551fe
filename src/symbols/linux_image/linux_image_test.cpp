#include "symbols/linux_image/linux_image.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <set>

#include "elf/elf_writer.h"
#include "symbols/linux_image/open_kernel.h"
#include "symbols/linux_image/orc_tables.h"
#include "symbols/symbol_table.h"

namespace ringside::symbols {
namespace {

constexpr std::uint64_t kStart = 0xffffffff81000000;
constexpr std::size_t kOrcRows = 12'000;

std::string output_of(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> buffer;
  while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), count);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

void put(std::vector<std::byte>& bytes, std::size_t at, Bytes what) {
  std::copy(what.begin(), what.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const Bytes raw = std::as_bytes(std::span(&value, 1));
  bytes.insert(bytes.end(), raw.begin(), raw.end());
}

// A made-up kernel with kallsyms that knows no data, a banner, a build id and ORC.
class MadeUpKernel : public ::testing::Test {
 protected:
  MadeUpKernel() {
    const auto file =
        MappedFile::open(std::string(RINGSIDE_KALLSYMS_IMAGES) + "/6.4-64-percpu.img").value();
    bytes_.assign(file->bytes().begin(), file->bytes().end());
    constexpr std::string_view kBanner{"Linux version 6.4.1 (me@here) (gcc) #1 SMP\n\0", 44};
    constexpr std::string_view kNote{"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0abcdefghijklmnopqrst", 36};
    put(bytes_, 0x18004, as_bytes(kBanner));
    put(bytes_, 0x18804, as_bytes(kNote));
    put(bytes_, 0x1a000,
        as_bytes(std::string_view("\x7f"
                                  "ELF")));  // a vDSO with its own
    put(bytes_, 0x1a400, as_bytes(kNote));
    // A list as .smp_locks, which is no ORC; then 20 bytes of .orc_header and the tables.
    bytes_.resize((bytes_.size() + 3) / 4 * 4);
    for (std::size_t i = 0; i < 2 * kOrcRows; ++i) append_distance(i / 2);
    bytes_.resize(bytes_.size() + 20);
    orc_at_ = bytes_.size();
    for (std::size_t i = 0; i < kOrcRows; ++i) append_distance(4 * i);
    for (std::size_t i = 0; i < kOrcRows; ++i) {
      append(bytes_, static_cast<std::uint16_t>(8 + i % 4 * 8));
      append(bytes_, std::uint16_t{0});
      append(bytes_, std::uint16_t{0x205});  // sp, type call
    }
    bytes_.resize(bytes_.size() + 0x1000);
  }

  // To kStart + offset.
  void append_distance(std::size_t offset) {
    append(bytes_, static_cast<std::int32_t>(static_cast<std::int64_t>(offset) -
                                             static_cast<std::int64_t>(bytes_.size())));
  }

  [[nodiscard]] Result<LinuxImage> read(std::uint64_t address = kStart) const {
    return read_linux_image(Arch::kX86_64, {{{address}, bytes_, bytes_.size() + 0x5000}});
  }

  std::vector<std::byte> bytes_;
  std::size_t orc_at_ = 0;
};

TEST_F(MadeUpKernel, TablesAreFoundByTheirPattern) {
  const auto image = read();
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->text.begin.value, kStart);
  EXPECT_GT(image->text.size(), 0xf000u);
  EXPECT_EQ(image->version(), "Linux version 6.4.1 (me@here) (gcc) #1 SMP");
  EXPECT_EQ(image->build_id, (AddressRange{{kStart + 0x18804}, {kStart + 0x18804 + 36}}));
  ASSERT_TRUE(image->orc_ip && image->orc_entries && image->orc_header);
  EXPECT_EQ(image->orc_ip->begin.value, kStart + orc_at_);
  EXPECT_EQ(image->orc_ip->size(), kOrcRows * 4);
  EXPECT_EQ(image->orc_entries->begin, image->orc_ip->end);
  EXPECT_EQ(image->orc_entries->size(), kOrcRows * 6);
  EXPECT_FALSE(image->btf);
}

TEST_F(MadeUpKernel, SymbolsMustBeWhereTheBytesAre) {
  const auto image = read(kStart + 0x40000000);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().message,
            "kallsyms says that code is at 0xffffffff81000000, where no bytes of it are");
}

constexpr std::uint64_t kInit = kStart + 0x100000;

std::shared_ptr<const elf::ElfFile> page_of_code() {
  const std::vector<std::byte> text(0x1000, std::byte{0x90});
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({kStart}, text.size(), true, false, text);
  return elf::ElfFile::from_bytes(writer.write(), "memory").value();
}

// That page, and a list with so many bytes of init code behind it.
Result<LinuxImage> with_init_code(const elf::ElfFile& file, std::uint64_t size) {
  SymbolList list;
  const std::initializer_list<std::pair<std::uint64_t, const char*>> symbols = {
      {kStart, "_stext"},          {kStart, "work"},        {kStart + 0x1000, "_etext"},
      {kInit, "_sinittext"},       {kInit, "start_kernel"}, {kInit + 0x80, "setup"},
      {kInit + size, "_einittext"}};
  for (const auto& [address, name] : symbols) list.symbols.push_back({{address}, 'T', name, {}});
  return read_linux_image(file, list, "list");
}

// A kernel that runs has unmapped it; the code around it keeps its bytes.
TEST(LinuxImage, InitCodeWithoutBytesHasItsFunctions) {
  const auto file = page_of_code();  // which has the bytes of the image
  const auto image = with_init_code(*file, 0x100);
  ASSERT_TRUE(image) << image.error().message;
  const auto kernel = elf::ElfFile::from_bytes(make_elf(*image), "kernel");
  ASSERT_TRUE(kernel);
  EXPECT_TRUE((*kernel)->is_code({kInit + 0x84}));
  EXPECT_FALSE((*kernel)->is_code({kInit + 0x100}));
  EXPECT_TRUE((*kernel)->bytes_at({kInit}, 4).empty());
  EXPECT_EQ((*kernel)->bytes_at({kStart}, 4).size(), 4u);
  const auto start = (*kernel)->symbol_named("start_kernel");
  ASSERT_TRUE(start);
  EXPECT_EQ(start->size, 0x80u);
}

TEST(LinuxImage, InitCodeWithoutBytesIsNotLongerThanAKernelHasIt) {
  constexpr std::uint64_t kMost = 16 << 20;
  const auto file = page_of_code();
  for (const auto& [size, is_there] : {std::pair(kMost, true), {kMost + 1, false}}) {
    const auto image = with_init_code(*file, size);
    ASSERT_TRUE(image) << image.error().message;
    const auto kernel = elf::ElfFile::from_bytes(make_elf(*image), "kernel");
    ASSERT_TRUE(kernel);
    EXPECT_EQ((*kernel)->is_code({kInit + 0x84}), is_there);
    EXPECT_TRUE((*kernel)->is_code({kStart + 0x84}));
  }
}

TEST_F(MadeUpKernel, OrcIsNotFoundInDamagedTables) {
  bytes_[orc_at_ + 4 * kOrcRows + 6 * 7000 + 4] = std::byte{0xaa};
  EXPECT_FALSE(read()->orc_ip);
  EXPECT_FALSE(find_orc({}, {kStart}, {{kStart}, {kStart + 0x1000}}));
}

TEST_F(MadeUpKernel, ReadelfReadsTheElfFile) {
  const auto image = read();
  ASSERT_TRUE(image);
  const std::vector<std::byte> elf = make_elf(*image);
  const std::string path =
      fmt::format("{}/linux_image_test.{}.elf", ::testing::TempDir(), ::getpid());
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(elf.data()), static_cast<std::streamsize>(elf.size()));
  const std::string sections = output_of("readelf -SlnW " + path + " 2>&1");
  EXPECT_EQ(sections.find("arning"), std::string::npos) << sections;
  EXPECT_NE(
      sections.find(fmt::format(".orc_unwind_ip    PROGBITS        {:016x}", kStart + orc_at_)),
      std::string::npos)
      << sections;
  EXPECT_NE(sections.find("Build ID: 6162636465666768696a6b6c6d6e6f7071727374"), std::string::npos)
      << sections;
  EXPECT_NE(
      sections.find(fmt::format("0x{:06x} 0x{:06x} R E", image->text.size(), image->text.size())),
      std::string::npos)
      << sections;

  // nm's addresses and names are those of kallsyms, and the banner.
  std::multiset<std::pair<std::uint64_t, std::string>> expected{{kStart + 0x18004, "linux_banner"}};
  std::size_t functions = 0;
  for (const ListedSymbol& symbol : image->symbols.symbols)
    expected.emplace(symbol.address.value, symbol.name);
  std::multiset<std::pair<std::uint64_t, std::string>> found;
  std::istringstream lines(output_of("nm " + path));
  std::uint64_t address = 0;
  char type = 0;
  for (std::string name; lines >> std::hex >> address >> type >> name; found.emplace(address, name))
    functions += type == 't' || type == 'T';
  EXPECT_EQ(found, expected);
  EXPECT_GT(functions, 50u);
  std::filesystem::remove(path);
}

// Debian's kernels, where script/fetch-linux-guest has left them: what is read from a vmlinuz alone
// against its vmlinux with debug information.
class DebianKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* home = std::getenv("HOME");
    const std::filesystem::path cache =
        std::string(home == nullptr ? "" : home) + "/.cache/ringside";
    std::error_code ignored;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(cache, ignored))
      if (entry.path().filename() == "vmlinuz" &&
          std::filesystem::exists(entry.path().parent_path() / "vmlinux"))
        folders_.push_back(entry.path().parent_path());
    if (folders_.empty()) GTEST_SKIP() << "no kernel (script/fetch-linux-guest)";
  }

  std::vector<std::filesystem::path> folders_;
};

std::map<std::uint64_t, std::set<std::string_view>> names_by_address(const elf::ElfFile& file) {
  std::map<std::uint64_t, std::set<std::string_view>> names;
  for (const elf::FunctionSymbol& symbol : file.symbols())
    names[symbol.address.value].insert(symbol.name);
  return names;
}

// Those for arm64 and i386 know no data in kallsyms.
TEST_F(DebianKernels, SystemMapHasData) {
  for (const auto& folder : folders_) {
    SCOPED_TRACE(folder.string());
    const auto found = open_kernel(folder / "vmlinuz", folder / "System.map");
    ASSERT_TRUE(found) << found.error().message;
    const auto vmlinux = elf::ElfFile::open(folder / "vmlinux").value();
    EXPECT_EQ((*found)->build_id_hex(), vmlinux->build_id_hex());
    for (const char* name : {"modules", "init_task", "linux_banner", "schedule"})
      EXPECT_EQ((*found)->symbol_named(name)->address, vmlinux->symbol_named(name)->address)
          << name;
    EXPECT_EQ(open_kernel(folder / "vmlinux", folder / "System.map").error().code,
              ErrorCode::kUsage);
    if (const auto& other = folders_.front(); other != folder) {
      const auto mixed = open_kernel(folder / "vmlinuz", other / "System.map");
      ASSERT_FALSE(mixed);
      EXPECT_EQ(mixed.error().code, ErrorCode::kMismatch) << mixed.error().message;
    }
  }
}

TEST_F(DebianKernels, VmlinuzHasWhatVmlinuxHas) {
  for (const auto& folder : folders_) {
    SCOPED_TRACE(folder.string());
    const auto found = open_kernel(folder / "vmlinuz");
    ASSERT_TRUE(found) << found.error().message;
    const auto vmlinux = elf::ElfFile::open(folder / "vmlinux").value();
    EXPECT_EQ((*found)->arch(), vmlinux->arch());
    EXPECT_EQ((*found)->build_id_hex(), vmlinux->build_id_hex());
    EXPECT_EQ((*found)->symbol_named("linux_banner")->address,
              vmlinux->symbol_named("linux_banner")->address);
    for (const char* name : {".orc_unwind_ip", ".orc_unwind", ".BTF"}) {
      const auto expected = vmlinux->section(name);
      const auto section = (*found)->section(name);
      ASSERT_EQ(section.has_value(), expected.has_value()) << name;
      if (!expected) continue;
      EXPECT_EQ(section->address, expected->address) << name;
      EXPECT_TRUE(std::equal(section->bytes.begin(), section->bytes.end(), expected->bytes.begin(),
                             expected->bytes.end()))
          << name;
    }

    // At each function's first and last byte, one of the names of the function that is there.
    const auto table = SymbolTable::from_elf(*found);
    const auto expected = SymbolTable::from_elf(vmlinux);
    const auto names = names_by_address(*vmlinux);
    const auto text = (*found)->section(".text");
    ASSERT_TRUE(text);
    std::size_t asked = 0;
    std::size_t wrong = 0;
    for (const Symbol& function : expected.symbols()) {
      if (function.start < text->address || function.start - text->address >= text->size ||
          function.raw == "_etext")
        continue;
      // A label's size may be all that is left of its segment.
      const ImageAddr last =
          std::min(function.start + function.size, text->address + text->size) - 1;
      for (const ImageAddr at : {function.start, last}) {
        ++asked;
        const auto symbol = table.find(at);
        const bool right =
            symbol && symbol->start <= at && names.at(symbol->start.value).count(symbol->raw) != 0;
        wrong += !right;
        if (!right && wrong < 5) ADD_FAILURE() << function.raw << " at " << at.value;
      }
    }
    EXPECT_GT(asked, 60'000u);
    // And where kallsyms has a symbol, a label in the middle of a function included, vmlinux has
    // it.
    std::size_t labels = 0;
    for (const Symbol& symbol : table.symbols()) {
      if (symbol.start < text->address || symbol.start - text->address >= text->size) continue;
      const auto same = expected.find(symbol.start);
      const bool right = same && same->start == symbol.start;
      wrong += !right;
      if (!right && wrong < 5) ADD_FAILURE() << symbol.raw << " is missing";
      labels += right && !same->has_own_size;
    }
    EXPECT_GT(labels, 5u);
    EXPECT_EQ(wrong, 0u);
  }
}

}  // namespace
}  // namespace ringside::symbols
