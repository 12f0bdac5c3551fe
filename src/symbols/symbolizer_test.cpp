// Against a second reader: what llvm-symbolizer says of every byte of code of programs that
// compilers and tools wrote in many ways (dwarf/programs.cmake).

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>

#include "symbols/debug_files.h"

namespace ringside::symbols {
namespace {

std::string path_of(const std::string& name) {
  return std::string(RINGSIDE_DWARF_FOLDER) + "/" + name;
}

std::string output_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"),
                                                             &::pclose);
  std::string text;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe.get())) > 0;)
    text.append(buffer, n);
  return text;
}

std::vector<ImageAddr> code_of(const elf::ElfFile& file) {
  std::vector<ImageAddr> addresses;
  for (const elf::FunctionSymbol& symbol : file.symbols())
    for (std::uint64_t i = 0; i < symbol.size; ++i) addresses.push_back(symbol.address + i);
  return addresses;
}

std::string text_of(const std::vector<SourceFrame>& frames) {
  std::string text;
  for (const SourceFrame& frame : frames)
    text += fmt::format("{}\n{}:{}:{}\n", frame.function.empty() ? "??" : frame.function,
                        frame.file.empty() ? "??" : frame.file, frame.line, frame.column);
  return text + "\n";
}

// The answers of llvm-symbolizer, one for each address.
std::vector<std::string> llvm_answers(const std::string& name,
                                      const std::vector<ImageAddr>& addresses) {
  // Tests of one program run side by side.
  const std::string list =
      fmt::format("{}/{}.{}.addresses", ::testing::TempDir(), name, ::getpid());
  std::ofstream out(list);
  for (const ImageAddr address : addresses) out << fmt::format("{:#x}\n", address.value);
  out.close();
  std::istringstream text(output_of(std::string(RINGSIDE_LLVM_SYMBOLIZER) +
                                    " --no-demangle --inlines --obj=" + path_of(name) + " < " +
                                    list));
  std::remove(list.c_str());
  std::vector<std::string> answers(1);
  for (std::string line; std::getline(text, line);) {
    answers.back() += line + "\n";
    if (line.empty()) answers.emplace_back();
  }
  answers.pop_back();
  return answers;
}

// An address may have several names; which of them is shown is a matter of taste (symbol_table.h).
std::string with_one_name_an_address(const std::string& answer, const elf::ElfFile& file) {
  std::map<ImageAddr, std::string_view> chosen;
  std::map<std::string_view, ImageAddr> addresses;
  for (const elf::FunctionSymbol& symbol : file.symbols()) {
    chosen.try_emplace(symbol.address, symbol.name);
    addresses.try_emplace(symbol.name, symbol.address);
  }
  std::istringstream lines(answer);
  std::string text;
  for (std::string line; std::getline(lines, line); text += line + "\n")
    if (const auto known = addresses.find(line); known != addresses.end())
      line = chosen.at(known->second);
  return text;
}

class Program : public ::testing::TestWithParam<std::string> {};

TEST_P(Program, IsReadAsByLlvm) {
  const std::string name = GetParam().substr(0, GetParam().find('='));
  const std::string other = GetParam().substr(GetParam().find('=') + 1);
  const auto file = elf::ElfFile::open(path_of(name));
  ASSERT_TRUE(file) << file.error().message;
  const auto original = elf::ElfFile::open(path_of(other));
  ASSERT_TRUE(original) << original.error().message;
  const std::vector<ImageAddr> addresses = code_of(**original);
  ASSERT_GT(addresses.size(), 200u);
  if (!(*file)->symbols().empty()) {
    ASSERT_EQ(code_of(**file), addresses);
  }
  const std::vector<std::string> expected = llvm_answers(other, addresses);
  ASSERT_EQ(expected.size(), addresses.size());

  Symbolizer symbolizer = open_symbolizer(*file, {.folders = {path_of("debug")}}, Inlines::kShow);
  std::size_t inlined = 0;
  std::size_t differences = 0;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const std::vector<SourceFrame> frames = symbolizer.lookup(addresses[i]);
    inlined += frames.size() > 1;
    const std::string answer = text_of(frames);
    if (answer == expected[i] || with_one_name_an_address(answer, **original) ==
                                     with_one_name_an_address(expected[i], **original))
      continue;
    if (++differences < 4)
      ADD_FAILURE() << fmt::format("{}: ringside\n{}llvm-symbolizer\n{}", addresses[i], answer,
                                   expected[i]);
  }
  EXPECT_EQ(differences, 0u) << "of " << addresses.size() << " addresses";
  EXPECT_GT(inlined, addresses.size() / 20);
}

std::string name_of(const ::testing::TestParamInfo<std::string>& program) {
  return program.param.substr(0, program.param.find('='));
}
INSTANTIATE_TEST_SUITE_P(Cpp, Program, ::testing::Values(RINGSIDE_DWARF_PROGRAMS), name_of);
INSTANTIATE_TEST_SUITE_P(C, Program,
                         ::testing::ValuesIn(std::vector<std::string>{RINGSIDE_DWARF_C_PROGRAMS}),
                         name_of);

// The same code at another place has the same names and lines, also where the debug information of
// removed functions claims that place. Elsewhere llvm-symbolizer judges them (Program).
class MovedProgram : public ::testing::TestWithParam<std::string> {};

TEST_P(MovedProgram, HasNothingOfRemovedCode) {
  const auto open = [](const std::string& name) {
    return elf::ElfFile::open(path_of(name)).value();
  };
  const auto moved = open(GetParam());
  const auto original = open(GetParam().substr(0, GetParam().find("_at_")));
  const std::vector<ImageAddr> here = code_of(*moved);
  const std::vector<ImageAddr> there = code_of(*original);
  ASSERT_GT(here.size(), 200u);
  ASSERT_EQ(here.size(), there.size());
  EXPECT_FALSE(original->symbol_named("removed_code"));
  Symbolizer symbolizer = open_symbolizer(moved, {}, Inlines::kShow);
  Symbolizer judge = open_symbolizer(original, {}, Inlines::kShow);
  for (std::size_t i = 0; i < here.size(); ++i)
    EXPECT_EQ(text_of(symbolizer.lookup(here[i])), text_of(judge.lookup(there[i])))
        << here[i].value;
}

INSTANTIATE_TEST_SUITE_P(All, MovedProgram, ::testing::Values(RINGSIDE_DWARF_MOVED),
                         [](const auto& program) { return program.param; });

}  // namespace
}  // namespace ringside::symbols
