#include "session/kernel/code_aliases.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <map>

#include "base/testing/function_memory.h"
#include "elf/elf_writer.h"

namespace ringside::session {
namespace {

constexpr std::uint64_t kBase = 0xffff'ffff'8010'0000;
constexpr std::uint64_t kBytes = 0x6000;
constexpr std::uint64_t kData = 0x5800;  // a place in the code: data is behind it
constexpr std::uint64_t kPark = 0x2100;  // a function's place in the code
constexpr std::uint64_t kParkBytes = 0x80;

std::byte code_at(std::uint64_t offset) {
  std::uint64_t mixed = (offset + 1) * 0x9e37'79b9'7f4a'7c15;
  mixed ^= mixed >> 29;
  return static_cast<std::byte>(mixed * 0xbf58'476d'1ce4'e5b9 >> 56);
}

class CodeAliasesTest : public ::testing::Test {
 protected:
  CodeAliasesTest() {
    for (std::uint64_t i = 0; i < kBytes; ++i) code_.push_back(code_at(i));
    for (std::uint64_t i = 0; i < 0x200; ++i) code_[0x5000 + i] = code_[0x5400 + i];  // twice
    elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
    writer.add_segment({kBase}, kBytes, true, false, code_);
    const std::uint16_t text =
        writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {kBase}, kData);
    writer.map_section(".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, {kBase + kData},
                       kBytes - kData);
    const std::uint8_t function = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    writer.set_symbols({{"start", {kBase}, kPark, function, text},
                        {"park", {kBase + kPark}, kParkBytes, function, text},
                        {"rest", {kBase + kPark + kParkBytes}, 0x1000, function, text}});
    kernel_ = {.id = 1,
               .name = "kernel",
               .file = elf::ElfFile::from_bytes(writer.write(), "kernel.elf").value(),
               .load_bias = 0};
  }
  // Puts a part of the kernel's code there.
  void put(std::uint64_t at, std::uint64_t offset, std::uint64_t size) {
    for (std::uint64_t i = 0; i < size; ++i) page_of(at + i)[(at + i) % 4096] = code_[offset + i];
  }
  std::vector<std::byte>& page_of(std::uint64_t at) {
    auto& page = pages_[at / 4096];
    page.resize(4096);
    return page;
  }
  std::optional<elf::Image> poll(std::uint64_t pc) {
    ringside::testing::FunctionMemory memory([&](GuestVirt at, std::span<std::byte> into) {
      std::size_t count = 0;
      for (; count < into.size(); ++count) {
        const auto page = pages_.find((at.value + count) / 4096);
        if (page == pages_.end()) break;
        into[count] = page->second[(at.value + count) % 4096];
      }
      return Result<std::size_t>(count);
    });
    return CodeAliases::poll(kernel_, {pc}, memory).value();
  }

  std::vector<std::byte> code_;
  elf::Image kernel_;
  std::map<std::uint64_t, std::vector<std::byte>> pages_;
};

std::string function_at(const elf::Image& image, std::uint64_t at) {
  for (const elf::FunctionSymbol& symbol : image.file->symbols())
    if (image.to_image({at}) - symbol.address < symbol.size) return std::string(symbol.name);
  return {};
}

TEST_F(CodeAliasesTest, ASecondMappingOfTheKernelIsTheKernel) {
  put(0x10'0000, 0, kBytes);
  const auto image = poll(0x10'0000 + kPark + 0x10);
  ASSERT_TRUE(image);
  EXPECT_EQ(image->file, kernel_.file);
  EXPECT_EQ(image->to_guest({kBase}), GuestVirt{0x10'0000});
  EXPECT_EQ(image->name, "kernel");
}

TEST_F(CodeAliasesTest, ACopyIsAnImageOfItsOwn) {
  put(0x8000, kPark, kParkBytes);
  page_of(0x8000)[kParkBytes] = std::byte{1};
  const auto image = poll(0x8010);
  ASSERT_TRUE(image);
  EXPECT_NE(image->file, kernel_.file);
  EXPECT_TRUE(image->from_guest);
  EXPECT_EQ(function_at(*image, 0x8000), "park");
  EXPECT_EQ(function_at(*image, 0x8000 + kParkBytes - 1), "park");
  EXPECT_TRUE(image->file->is_code({0x8000 + kParkBytes - 1}));
  EXPECT_FALSE(image->file->is_code({0x8000 + kParkBytes}));
}

TEST_F(CodeAliasesTest, WordsThatWerePatchedEndIt) {
  put(0x8000, kPark, kParkBytes);
  page_of(0x8008)[8] ^= std::byte{0xff};
  const auto image = poll(0x8030);
  ASSERT_TRUE(image);
  EXPECT_EQ(function_at(*image, 0x8009), "park");
  EXPECT_FALSE(image->file->is_code({0x8008}));
}

TEST_F(CodeAliasesTest, OnePageIsNamedAsFarAsItGoes) {
  put(0x9000, 0x2000, 0x1000);
  const auto image = poll(0x9000 + 0x120);
  ASSERT_TRUE(image);
  EXPECT_EQ(function_at(*image, 0x9000), "start");
  EXPECT_EQ(function_at(*image, 0x9100), "park");
  EXPECT_EQ(function_at(*image, 0x9fff), "rest");
  EXPECT_FALSE(image->file->is_code({0xa000}));
}

TEST_F(CodeAliasesTest, OtherCodeIsNone) {
  page_of(0x8000).assign(4096, std::byte{0x90});
  EXPECT_FALSE(poll(0x8010));
  EXPECT_FALSE(poll(0x7000));  // not there
}

TEST_F(CodeAliasesTest, BytesThatTheKernelHasTwiceShowNothing) {
  put(0xb010, 0x5000, 0x200);
  EXPECT_FALSE(poll(0xb050));
  // But where they lie in their page they can be of one place only.
  put(0xc400, 0x5400, 0x200);
  const auto image = poll(0xc440);
  ASSERT_TRUE(image);
}

// As a boot loader holds the kernel that it copies.
TEST_F(CodeAliasesTest, ACopyOfDataIsNone) {
  put(0x8000, kData + 0x100, 0x400);
  EXPECT_FALSE(poll(0x8200));
}

TEST_F(CodeAliasesTest, ProbesAreFew) {
  CodeAliases aliases;
  unsigned looks = 0;
  for (int i = 0; i < 1000; ++i) looks += aliases.wants(kernel_, GuestVirt{0x1000});
  EXPECT_LE(looks, 8u);
  for (std::uint64_t page = 0; page < 1000; ++page)
    looks += aliases.wants(kernel_, GuestVirt{page << 12});
  EXPECT_LE(looks, 100u);
}

}  // namespace
}  // namespace ringside::session
