#include "symbols/nm/kernel_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "elf/elf_writer.h"
#include "symbols/nm/nm_text.h"

namespace ringside::symbols {
namespace {

constexpr std::uint64_t kLinked = 0xffffffff81000000;
constexpr std::uint64_t kSlide = 0x1c600000;

std::shared_ptr<const elf::ElfFile> kernel(const std::vector<const char*>& functions) {
  const std::vector<std::byte> code(0x1000);
  elf::ElfWriter writer(Arch::kX86_64, true, ET_EXEC);
  writer.add_segment({kLinked}, code.size(), true, false, code);
  const auto text =
      writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {kLinked}, code.size());
  std::vector<elf::ElfWriter::Symbol> symbols;
  for (const char* name : functions)
    symbols.push_back({.name = name,
                       .address = {kLinked + symbols.size() * 16},
                       .size = 16,
                       .info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
                       .section = text});
  writer.set_symbols(symbols);
  return elf::ElfFile::from_bytes(writer.write(), "vmlinux").value();
}

std::string line(std::uint64_t address, const std::string& rest) {
  return fmt::format("{:016x} {}\n", address, rest);
}

SymbolList parse(std::string text) { return parse_nm_text(std::move(text), "kallsyms").value(); }

TEST(KernelSymbols, OfARelocatedKernelAreMovedByTheFunctionsThatBothKnow) {
  const auto file = kernel({"startup_64", "twice", "schedule"});
  auto list = parse(line(0x1fb48, "A per_cpu_offset") + line(kLinked + kSlide, "T startup_64") +
                    line(kLinked + kSlide + 8, "t twice") + line(kLinked + kSlide + 16, "t twice") +
                    line(kLinked + kSlide + 32, "T schedule") +
                    line(kLinked + kSlide + 48, "t only_in_the_text"));
  const auto moved = move_to(*file, "kallsyms", list);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(list.address_of("schedule")->value, kLinked + 32);
  EXPECT_EQ(list.address_of("only_in_the_text")->value, kLinked + 48);
  EXPECT_EQ(list.address_of("per_cpu_offset")->value, 0x1fb48u);
}

TEST(KernelSymbols, AreMovedByTheLowestSegmentWhereTheFileHasNone) {
  auto list = parse(line(kLinked + kSlide, "T _text") + line(kLinked + kSlide + 64, "T schedule"));
  ASSERT_TRUE(move_to(*kernel({}), "kallsyms", list));
  EXPECT_EQ(list.address_of("schedule")->value, kLinked + 64);
  // No Linux: as linked.
  list = parse(line(kLinked + 64, "T kernel_main"));
  ASSERT_TRUE(move_to(*kernel({}), "nm", list));
  EXPECT_EQ(list.address_of("kernel_main")->value, kLinked + 64);
}

TEST(KernelSymbols, OfAnotherKernelAreRefused) {
  const auto file = kernel({"startup_64", "fork", "exec", "exit"});
  auto list = parse(line(kLinked, "T startup_64") + line(kLinked + 0x20, "T fork") +
                    line(kLinked + 0x50, "T exec") + line(kLinked + 0x90, "T exit"));
  const auto moved = move_to(*file, "System.map-6.2", list);
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code, ErrorCode::kMismatch);
  EXPECT_NE(moved.error().message.find("System.map-6.2"), std::string::npos);
  EXPECT_NE(moved.error().message.find("of the 4 functions in both, 1 "), std::string::npos)
      << moved.error().message;
}

TEST(KernelSymbols, AreReadFromAFileWithoutThoseOfModules) {
  const std::string path =
      fmt::format("{}/kernel_symbols_test.{}", ::testing::TempDir(), ::getpid());
  std::ofstream(path) << line(kLinked, "T schedule") << line(kLinked + kSlide, "t probe\t[virtio]");
  const auto list = read_kernel_symbols(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(list) << list.error().message;
  ASSERT_EQ(list->symbols.size(), 1u);
  EXPECT_EQ(list->symbols[0].name, "schedule");
  const auto missing = read_kernel_symbols(path);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos)
      << missing.error().message;
  const auto folder = read_kernel_symbols(::testing::TempDir());
  ASSERT_FALSE(folder);
  EXPECT_NE(folder.error().message.find("directory"), std::string::npos) << folder.error().message;
}

}  // namespace
}  // namespace ringside::symbols
