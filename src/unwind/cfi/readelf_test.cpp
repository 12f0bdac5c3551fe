// The call-frame table against a second reader: what `readelf --debug-dump=frames-interp` says of
// the same file, row by row.

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <memory>
#include <sstream>

#include "arch/arch_info.h"
#include "arch/registers.h"
#include "unwind/cfi/table.h"

namespace ringside::unwind::cfi {
namespace {

const std::map<std::string, std::size_t> kRegisters = {
    {"rax", 0},  {"rdx", 1},  {"rcx", 2},  {"rbx", 3},  {"rsi", 4},  {"rdi", 5},
    {"rbp", 6},  {"rsp", 7},  {"r8", 8},   {"r9", 9},   {"r10", 10}, {"r11", 11},
    {"r12", 12}, {"r13", 13}, {"r14", 14}, {"r15", 15}, {"ra", 16}};

// One register's column in readelf's words; "u" is undefined or, for callee-saved ones, unchanged.
std::string column(const RegisterRule& rule) {
  switch (rule.kind) {
    case RegisterRule::Kind::kOffset:
      return fmt::format("c{:+}", rule.offset);
    case RegisterRule::Kind::kValOffset:
      return fmt::format("v{:+}", rule.offset);
    case RegisterRule::Kind::kExpression:
      return "exp";
    case RegisterRule::Kind::kValExpression:
      return "vexp";
    default:
      return "u";
  }
}

std::string cfa_column(const CfaRule& cfa) {
  if (cfa.kind == CfaRule::Kind::kExpression) return "exp";
  for (const auto& [name, number] : kRegisters)
    if (number == cfa.reg) return fmt::format("{}{:+}", name, cfa.offset);
  return "?";
}

CompactRule compacted(const Rule& rule) {
  const CompactRule compacted = compact(rule, arch::kX86_64Info);
  // A slow rule is only said to be one.
  return compacted.kind == CompactRule::Kind::kSlow ? CompactRule{.kind = compacted.kind}
                                                    : compacted;
}

class Readelf : public ::testing::TestWithParam<const char*> {};

TEST_P(Readelf, SaysTheSame) {
  const std::string path = fmt::format("{}/{}", RINGSIDE_STEP_PROGRAMS, GetParam());
  const auto file = elf::ElfFile::open(path);
  ASSERT_TRUE(file) << file.error().message;
  Table table(*file, arch::kX86_64Info);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(
      ::popen(("LC_ALL=C readelf -W --debug-dump=frames-interp " + path + " 2>/dev/null").c_str(),
              "r"),
      &::pclose);
  ASSERT_TRUE(pipe);
  std::vector<std::string> columns;
  std::size_t rows = 0;
  bool in_fde = false;
  char buffer[1024];
  while (std::fgets(buffer, sizeof buffer, pipe.get()) != nullptr) {
    std::istringstream line(buffer);
    std::vector<std::string> words;
    for (std::string word; line >> word;) words.push_back(word);
    if (words.empty()) continue;
    if (words.size() > 3 && (words[3] == "FDE" || words[3] == "CIE")) in_fde = words[3] == "FDE";
    if (words[0] == "LOC") columns = words;
    if (!in_fde || words[0].size() != 16 || words.size() != columns.size() ||
        words[0].find_first_not_of("0123456789abcdef") != std::string::npos)
      continue;
    const ImageAddr pc{std::stoull(words[0], nullptr, 16)};
    const auto found = table.find(pc);
    ASSERT_TRUE(found) << words[0];
    EXPECT_EQ(cfa_column(found->rule.cfa), words[1]) << words[0];
    EXPECT_EQ(table.find_compact(pc), compacted(found->rule)) << words[0];
    for (std::size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "s") words[i] = "u";
      EXPECT_EQ(column(found->rule.registers[kRegisters.at(columns[i])]), words[i])
          << words[0] << " " << columns[i];
    }
    ++rows;
  }
  EXPECT_GT(rows, 50u);
}

INSTANTIATE_TEST_SUITE_P(Programs, Readelf,
                         ::testing::Values("step_gcc_cfi_O0", "step_gcc_cfi_O2", "step_gcc_cfi_Os",
                                           "step_gcc_debug_frame"),
                         [](const auto& program) { return std::string(program.param); });

}  // namespace
}  // namespace ringside::unwind::cfi
