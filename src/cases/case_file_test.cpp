#include "cases/case_file.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "cases/case_text.h"

namespace ringside::cases {
namespace {

namespace fs = std::filesystem;

// Written by hand, in the words of tests/unwind-cases/README.md.
constexpr const char* kCase =
    "unwind-case 1\n"
    "\n"
    "[images]\n"
    "image kernel kernel.elf 0x200000\n"
    "image ext4 ext4.elf 0x0\n"
    "entries entries\n"
    "\n"
    "[registers]\n"
    "arch x86_64\n"
    "level kernel\n"
    "vcpu 1\n"
    "time_ns 5\n"
    "weight 1\n"
    "rsp 0xffffc90000013d28\n"
    "rip 0xffffffff81000000\n"
    "\n"
    "[memory]\n"
    "# piece ADDRESS KIND SIZE of ASKED-FOR, then its bytes\n"
    "piece 0xffffc90000013d28 current-stack 8 of 2048\n"
    "0xffffc90000013d28  0011223344556677\n"
    "\n"
    "[expected]\n"
    "# address, pc or call, function, kind, how it was confirmed\n"
    "0xffffffff81000000 pc   f kernel registers\n"
    "stop truncated gdb\n"
    "class irq interrupt in f\n"
    "\n"
    "[entered-from]\n"
    "user 0x1\n";

TEST(CaseText, HasASectionForEachPart) {
  const auto parts = parse_case(kCase, "case");
  ASSERT_TRUE(parts) << parts.error().message;
  ASSERT_EQ(parts->images.size(), 2u);
  EXPECT_EQ(parts->images[0].name, "kernel");
  EXPECT_EQ(parts->images[0].file, "kernel.elf");
  EXPECT_EQ(parts->images[0].load_bias, 0x200000u);
  EXPECT_EQ(parts->entries, "entries");
  EXPECT_EQ(parts->capture.registers.get(arch::x86_64::kRip), 0xffffffff81000000u);
  EXPECT_EQ(parts->capture.read<std::uint32_t>({0xffffc90000013d28}), 0x33221100u);
  EXPECT_EQ(parts->expected.class_name, "irq");
  ASSERT_EQ(parts->entered_from.size(), 1u);
  EXPECT_EQ(parts->entered_from[0].first, "user");
  EXPECT_EQ(case_text(*parts), kCase);
}

// The case with `line` instead of its line `number`, counted from 1.
std::string with_line(std::size_t number, const std::string& line) {
  std::string text = kCase;
  std::size_t start = 0;
  for (std::size_t i = 1; i < number; ++i) start = text.find('\n', start) + 1;
  return text.replace(start, text.find('\n', start) - start, line);
}

TEST(CaseText, WrongLinesAreNamed) {
  const auto error_of = [](const std::string& text) {
    const auto parts = parse_case(text, "d/c.case");
    return parts ? "" : parts.error().message;
  };
  EXPECT_EQ(error_of(""), "d/c.case:1: not a case, which begins with 'unwind-case 1'");
  EXPECT_EQ(error_of("[images]\n"), "d/c.case:1: not a case, which begins with 'unwind-case 1'");
  EXPECT_EQ(error_of(with_line(1, "unwind-case 2")),
            "d/c.case:1: version '2' of the format; this ringside reads 1");
  EXPECT_EQ(error_of(with_line(2, "arch x86_64")), "d/c.case:2: not '[images]'");
  EXPECT_EQ(error_of(with_line(4, "image kernel kernel.elf")),
            "d/c.case:4: neither 'image NAME FILE LOAD-BIAS' nor one 'entries FILE'");
  EXPECT_EQ(error_of(with_line(5, "entries other")),
            "d/c.case:6: neither 'image NAME FILE LOAD-BIAS' nor one 'entries FILE'");
  EXPECT_EQ(error_of(with_line(8, "[memory]")),
            "d/c.case:8: section 'memory' where 'registers' belongs");
  EXPECT_EQ(error_of(with_line(16, "rib 0x5")),
            "d/c.case:16: unknown name 'rib' or wrong value '0x5'");
  EXPECT_EQ(
      error_of(with_line(20, "0xffffc90000013d28  001122334455667")),
      "d/c.case:20: not up to 32 bytes in words of 8, nor 'zeros COUNT', of the 8 bytes left");
  EXPECT_EQ(error_of(with_line(20, "")),
            "d/c.case:19: the piece at 0xffffc90000013d28 ends with 0 of its 8 bytes");
  EXPECT_EQ(error_of(with_line(24, "0x1 pc f")),
            "d/c.case:24: not 'ADDRESS pc|call FUNCTION KIND HOW-CONFIRMED'");
  EXPECT_EQ(error_of(with_line(25, "")), "d/c.case:26: no line 'stop REASON'");
  EXPECT_EQ(error_of(with_line(29, "user")), "d/c.case:29: not 'NAME VALUE'");
  EXPECT_EQ(error_of(std::string(kCase) + "[more]\n"),
            "d/c.case:30: section 'more' behind the last one");
  const std::string text = kCase;
  EXPECT_EQ(error_of(text.substr(0, text.find("[expected]"))),
            "d/c.case:17: no section 'expected' behind this");
  EXPECT_EQ(error_of("unwind-case 1\n"), "d/c.case:1: no section 'images' behind this");
}

class CaseFile : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ringside-case-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string error_of(const fs::path& path) const {
    ImageCache cache;
    const auto loaded = load_case(path, cache);
    return loaded ? "" : loaded.error().message;
  }
  fs::path folder_;
};

TEST_F(CaseFile, AFolderIsNoCase) {
  EXPECT_EQ(error_of(folder_), folder_.string() + ": a folder; a case is one file, NAME.case");
}

TEST_F(CaseFile, AMissingFileIsNamed) {
  EXPECT_NE(error_of(folder_ / "no.case").find("no.case"), std::string::npos);
  std::ofstream(folder_ / "a.case") << kCase;
  EXPECT_NE(error_of(folder_ / "a.case").find("kernel.elf"), std::string::npos);
}

// A fault in them is quoted: "no layout SECRET before".
TEST_F(CaseFile, EntriesOutsideOfItsFolderAreNotRead) {
  std::string text = kCase;
  text.erase(text.find("image kernel"), text.find("entries entries") - text.find("image kernel"));
  std::ofstream(folder_ / "secret") << "0x1 0x2 SECRET\n";
  fs::create_directory(folder_ / "case");
  std::ofstream(folder_ / "case/a.case") << text;
  fs::copy_file(folder_ / "secret", folder_ / "case/entries");
  EXPECT_NE(error_of(folder_ / "case/a.case").find("no layout SECRET"), std::string::npos);
  fs::remove(folder_ / "case/entries");
  fs::create_symlink(folder_ / "secret", folder_ / "case/entries");
  const std::string error = error_of(folder_ / "case/a.case");
  EXPECT_EQ(error.find("SECRET"), std::string::npos) << error;
  EXPECT_NE(error.find("not below"), std::string::npos) << error;
}

}  // namespace
}  // namespace ringside::cases
