#include "session/synthesized_symbols.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "elf/elf_writer.h"

namespace ringside::session {
namespace {

struct Range {
  std::uint64_t start;
  std::uint64_t size;
};

template <class T>
void append(std::vector<std::byte>& out, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// An .eh_frame of one CIE and an FDE a range, all with absolute addresses and without programs
// (Linux Standard Base, "Exception Frames").
std::vector<std::byte> frames_of(const std::vector<Range>& ranges) {
  std::vector<std::byte> out;
  append<std::uint32_t>(out, 12);
  append<std::uint32_t>(out, 0);                       // a CIE
  for (const int byte : {1, 0, 4, 0x78, 30, 0, 0, 0})  // version, "", alignments, return address
    out.push_back(static_cast<std::byte>(byte));
  for (const Range& range : ranges) {
    append<std::uint32_t>(out, 20);
    append<std::uint32_t>(out, static_cast<std::uint32_t>(out.size()));  // back to the CIE
    append(out, range.start);
    append(out, range.size);
  }
  append<std::uint32_t>(out, 0);
  return out;
}

// A program whose code lies as that of Debian's arm64 nc.traditional, where readelf -wF has
// 1930..2494 and 24e0..2510: between them are _start and call_weak_fn.
class SynthesizedSymbols : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kEntry = 0x2494;

  [[nodiscard]] std::vector<std::string> found(std::uint64_t entry = kEntry) const {
    const std::vector<std::byte> code(0x4000);
    const std::vector<std::byte> frames = frames_of(ranges_);
    elf::ElfWriter writer(Arch::kAArch64, true, ET_DYN);
    writer.add_segment({0x1000}, code.size(), true, false, code);
    writer.add_segment({0x16000}, 0x1000, false, true, {});
    writer.map_section(".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, {0x1930},
                       text_end_ - 0x1930);
    writer.add_section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, {0x5600}, frames);
    writer.set_symbols(symbols_);
    std::vector<std::byte> bytes = writer.write();
    std::memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_entry), &entry, sizeof entry);
    const auto file = elf::ElfFile::from_bytes(std::move(bytes), "nc");
    EXPECT_TRUE(file);
    std::vector<std::string> texts;
    if (file)
      for (const auto& function : synthesized_symbols(*file, "nc"))
        texts.push_back(fmt::format("{} {}..{}", function.name, function.address,
                                    function.address + function.size));
    return texts;
  }
  void add_symbol(std::uint64_t start, std::uint64_t size) {
    symbols_.push_back({"named", {start}, size, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)});
  }

  std::vector<Range> ranges_ = {{0x1930, 0xb64}, {0x24e0, 0x30}};
  std::vector<elf::ElfWriter::Symbol> symbols_;
  std::uint64_t text_end_ = 0x4854;
};

using Texts = std::vector<std::string>;

TEST_F(SynthesizedSymbols, AnEntryThatNoRangeHoldsReachesToTheNextRange) {
  EXPECT_EQ(found(), (Texts{"nc+0x1930 0x1930..0x2494", "nc+0x24e0 0x24e0..0x2510",
                            "_start 0x2494..0x24e0"}));
}

TEST_F(SynthesizedSymbols, AnEntryInARangeIsThatRange) {
  ranges_ = {{0x1930, 0xb64}, {kEntry, 0x34}, {0x24e0, 0x30}};
  EXPECT_EQ(found(), (Texts{"nc+0x1930 0x1930..0x2494", "_start 0x2494..0x24c8",
                            "nc+0x24e0 0x24e0..0x2510"}));
}

TEST_F(SynthesizedSymbols, AnEntryReachesNoFurtherThanItCan) {
  ranges_.clear();
  EXPECT_EQ(found(), Texts{"_start 0x2494..0x24e8"});  // 84 bytes
  text_end_ = 0x24d0;
  EXPECT_EQ(found(), Texts{"_start 0x2494..0x24d0"});
  add_symbol(0x24c0, 8);
  EXPECT_EQ(found(), Texts{"_start 0x2494..0x24c0"});
  text_end_ = 0x4854;
  EXPECT_EQ(found(0x4ff0), Texts{"_start 0x4ff0..0x5000"});  // the segment's end
}

TEST_F(SynthesizedSymbols, NothingIsNamedWhereNoProgramIsEntered) {
  ranges_ = {{0x24e0, 0x30}};
  const Texts others = {"nc+0x24e0 0x24e0..0x2510"};
  EXPECT_EQ(found(0), others);
  EXPECT_EQ(found(0x16000), others);  // data
  EXPECT_EQ(found(0x20000), others);
  add_symbol(0x2490, 0x10);
  EXPECT_EQ(found(), others);  // it has a name
}

// An x86 file: calls to 0x1100, to 0x1120 and to a place in the middle of code; a symbol without a
// size behind the first, call-frame information from 0x1140 on.
TEST(CalledFunctions, HaveTheirStartForAName) {
  std::vector<std::byte> code(0x400, std::byte{0x90});
  const auto call = [&](std::size_t at, std::uint32_t target) {
    code[at] = std::byte{0xe8};
    const auto displacement = static_cast<std::uint32_t>(target - 0x1000 - at - 5);
    std::memcpy(&code[at + 1], &displacement, sizeof displacement);
  };
  call(0x10, 0x1100);
  call(0x20, 0x1120);
  call(0x30, 0x1135);
  call(0x40, 0x1148);
  elf::ElfWriter writer(Arch::kX86_64, true, ET_DYN);
  const std::vector<std::byte> frames = frames_of({{0x1140, 0x40}});
  writer.add_segment({0x1000}, code.size(), true, false, code);
  writer.add_section(".eh_frame", SHT_PROGBITS, SHF_ALLOC, {0x5600}, frames);
  writer.set_symbols({{"named", {0x1110}, 0, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)}});
  const auto file = elf::ElfFile::from_bytes(writer.write(), "musl");
  ASSERT_TRUE(file);
  std::vector<std::string> texts;
  for (const auto& function : synthesized_symbols(*file, "musl"))
    texts.push_back(fmt::format("{} {}..{}", function.name, function.address,
                                function.address + function.size));
  EXPECT_EQ(texts, (Texts{"musl+0x1140 0x1140..0x1180", "musl+0x1100 0x1100..0x1110",
                          "musl+0x1120 0x1120..0x1140"}));
}

}  // namespace
}  // namespace ringside::session
