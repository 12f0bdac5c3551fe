#include "annotation/annotator.h"

#include <gtest/gtest.h>

#include "annotation/annotation_test_util.h"

namespace ringside::annotation {
namespace {

// 1000: nop; 1001: jne 1000; 1003: call 2000; 1008: ret; 1009: nops.
const std::vector<std::byte> kCode = [] {
  std::vector<std::byte> code;
  for (const int byte : {0x90, 0x75, 0xfd, 0xe8, 0xf8, 0x0f, 0, 0, 0xc3})
    code.push_back(static_cast<std::byte>(byte));
  code.resize(16, std::byte{0x90});
  return code;
}();

class AnnotatorTest : public ::testing::Test {
 protected:
  AnnotatorTest() {
    code_.start = 0x1000;
    code_.bytes = kCode;
    for (std::uint64_t at = 0x1000; at < 0x1010; ++at)
      code_.names[at] = {{"f"}, {{"/src/f.c", at < 0x1003 ? 7u : 8u}}, GuestVirt{0x1000}, 16};
    code_.names[0x1008] = {{"f", "g"}, {{"/src/f.c", 9u}, {"/src/g.h", 3u}}, GuestVirt{0x1000}, 16};
    code_.names[0x2000] = {{"callee"}, {}, GuestVirt{0x1ff0}, 32};
  }

  AnnotatedFunction annotate(std::vector<std::string> library = LlvmLibrary::usual_names()) {
    const auto chosen = choose_functions(made_.sums, made_.strings, "");
    EXPECT_TRUE(chosen);
    Annotator annotator(code_, sources_, made_.strings, strings_, std::move(library), Syntax::kAtt);
    return annotator.annotate(chosen->front());
  }
  static profile::Weight of_lines(const AnnotatedFunction& made) {
    profile::Weight sum = 0;
    for (const AnnotatedLine& line : made.lines) sum += line.sum.weight;
    return sum;
  }
  static bool has_library() { return LlvmLibrary::open(LlvmLibrary::usual_names()).has_value(); }

  testing::MadeSums made_;
  testing::FakeCode code_;
  SourceFiles sources_{{}};
  profile::StringTable strings_;
};

TEST_F(AnnotatorTest, SamplesAreAtInstructionsAndLines) {
  if (!has_library()) GTEST_SKIP() << "no LLVM library";
  const auto* const image = made_.image("kernel");
  made_.add(image, 0x1000, 0, {"f"}, 5);
  made_.add(image, 0x1000, 5, {"f"}, 7);  // within the call
  made_.add(image, 0x1000, 8, {"f", "g"}, 11);
  const AnnotatedFunction made = annotate();
  ASSERT_EQ(made.instructions.size(), 11u);
  EXPECT_EQ(made.instructions[0].sum.weight, 5);
  EXPECT_EQ(made.instructions[2].sum.weight, 7);
  EXPECT_EQ(made.instructions[3].sum.weight, 11);
  EXPECT_EQ(strings_[made.instructions[3].inlined.at(0)], "g");
  EXPECT_EQ(strings_[made.lines[made.instructions[3].line].file], "/src/g.h");
  EXPECT_EQ(made.lines[made.instructions[3].line].sum.weight, 11);
  EXPECT_EQ(made.outside.samples, 0u);
  EXPECT_EQ(of_lines(made), made.sum.weight);
  // One note on all source files.
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_NE(made.notes[0].find("/src/f.c and 1 other file is not shown"), std::string::npos);
  EXPECT_NE(made.notes[0].find("--source FOLDER"), std::string::npos);
}

TEST_F(AnnotatorTest, JumpsStayInsideAndCallsHaveNames) {
  if (!has_library()) GTEST_SKIP() << "no LLVM library";
  made_.add(made_.image("kernel"), 0x1000, 0, {"f"}, 1);
  const AnnotatedFunction made = annotate();
  const auto& jump = made.instructions.at(1);
  ASSERT_TRUE(jump.target);
  EXPECT_TRUE(jump.target->is_inside);
  EXPECT_EQ(jump.target->address, GuestVirt{0x1000});
  EXPECT_TRUE(made.instructions[0].is_target);
  EXPECT_FALSE(jump.is_target);
  const auto& call = made.instructions.at(2);
  ASSERT_TRUE(call.target);
  EXPECT_FALSE(call.target->is_inside);
  EXPECT_EQ(strings_[call.target->name], "callee");
  EXPECT_EQ(call.target->offset, 0x10u);
}

TEST_F(AnnotatorTest, CodeThatEndsEarlyLeavesSamplesOutside) {
  if (!has_library()) GTEST_SKIP() << "no LLVM library";
  code_.bytes.resize(9);
  const auto* const image = made_.image("kernel");
  made_.add(image, 0x1000, 1, {"f"}, 2);
  made_.add(image, 0x1000, 12, {"f"}, 3);
  const AnnotatedFunction made = annotate();
  EXPECT_EQ(made.instructions.back().address, GuestVirt{0x1008});
  EXPECT_EQ(made.outside.weight, 3);
  EXPECT_EQ(made.lines[0].sum.weight, 3);
  EXPECT_EQ(of_lines(made), 5);
}

TEST_F(AnnotatorTest, WithoutCodeTheSampledAddressesAreShown) {
  code_.bytes.clear();
  const auto* const image = made_.image("kernel");
  made_.add(image, 0x1000, 8, {"f", "g"}, 2);
  made_.add(image, 0x1000, 1, {"f"}, 3);
  const AnnotatedFunction made = annotate();
  ASSERT_EQ(made.instructions.size(), 2u);
  EXPECT_EQ(made.instructions[0].address, GuestVirt{0x1001});
  EXPECT_EQ(made.instructions[0].sum.weight, 3);
  EXPECT_TRUE(made.instructions[0].text.empty());
  EXPECT_EQ(strings_[made.instructions[1].inlined.at(0)], "g");
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_NE(made.notes[0].find("--kernel"), std::string::npos);
}

TEST_F(AnnotatorTest, WithoutADisassemblerANoteNamesThePackage) {
  made_.add(made_.image("kernel"), 0x1000, 1, {"f"}, 3);
  const AnnotatedFunction made = annotate({"/nonexistent"});
  ASSERT_EQ(made.notes.size(), 1u);
  EXPECT_NE(made.notes[0].find("libllvm14"), std::string::npos);
  ASSERT_EQ(made.instructions.size(), 1u);
  EXPECT_EQ(made.instructions[0].sum.weight, 3);
}

TEST_F(AnnotatorTest, NamesOfTheInputFindTheSymbolOfThatName) {
  if (!has_library()) GTEST_SKIP() << "no LLVM library";
  const auto* const image = made_.image("hot");
  made_.add(image, 0x1000, 8, {"f"}, 2, 0);
  const AnnotatedFunction made = annotate();
  EXPECT_EQ(made.start, GuestVirt{0x1000});
  EXPECT_EQ(made.instructions.size(), 11u);
  EXPECT_EQ(made.instructions.at(3).sum.weight, 2);
  made_.add(image, 0x1000, 16, {"f"}, 3, 0);  // another function of that name
  const AnnotatedFunction two = annotate();
  EXPECT_EQ(two.size, 0u);
  ASSERT_EQ(two.instructions.size(), 2u);
  EXPECT_EQ(two.instructions[1].address, GuestVirt{0x1010});
  EXPECT_EQ(two.instructions[1].sum.weight, 3);
}

TEST_F(AnnotatorTest, MappingsOfOneProgramAreMovedTogether) {
  if (!has_library()) GTEST_SKIP() << "no LLVM library";
  made_.add(made_.image("sh"), 0x1000, 3, {"f"}, 2);
  made_.add(made_.image("sh", 0x70000), 0x71000, 3, {"f"}, 5);
  const AnnotatedFunction made = annotate();
  EXPECT_EQ(made.instructions.at(2).sum.weight, 7);
}

}  // namespace
}  // namespace ringside::annotation
