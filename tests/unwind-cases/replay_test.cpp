// The stacks of tests/unwind-cases: README.md there.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "cases/case_file.h"
#include "cases/case_text.h"

namespace ringside::cases {
namespace {

namespace fs = std::filesystem;

// The folders of the kernels.
std::vector<std::string> kernels() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(RINGSIDE_UNWIND_CASES))
    if (fs::exists(entry.path() / "origin")) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<fs::path> cases_of(const std::string& kernel) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(fs::path(RINGSIDE_UNWIND_CASES) / kernel))
    if (entry.path().extension() == kCaseSuffix) paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Classes whose leaf or interrupted code is entry code, or other code that interrupts make hard.
bool is_entry_class(std::string_view name) {
  constexpr std::array<std::string_view, 9> kClasses = {
      "entry", "switch", "thunk", "string", "irq-prologue", "irq-epilogue", "nested", "irq", "plt"};
  return std::find(kClasses.begin(), kClasses.end(), name) != kClasses.end();
}

// Whether the end and every frame are confirmed, by other ways than ringside's.
bool is_confirmed(const ExpectedStack& stack) {
  return !stack.stop_confirmed.empty() &&
         std::none_of(stack.frames.begin(), stack.frames.end(),
                      [](const ExpectedFrame& frame) { return frame.confirmed.empty(); });
}

// Calls visit(name, case, rules) for each case of a kernel with each source of rules.
template <class Visit>
void for_each_case(const std::string& kernel, Visit visit) {
  ImageCache cache;
  for (const fs::path& path : cases_of(kernel)) {
    const auto loaded = load_case(path, cache);
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (const Rules rules : rules_of(**loaded)) visit(kernel / path.stem(), **loaded, rules);
  }
}

// Unwinds one case by the rules of one source.
void check(const fs::path& name, const Case& loaded, Rules rules) {
  const ExpectedStack& expected = loaded.expected;
  EXPECT_TRUE(is_confirmed(expected)) << name << ": a frame is confirmed by nothing";
  EXPECT_NE(expected.class_name, "") << name << ": no line 'class'";
  const std::string difference = cases::difference(expected, replay(loaded, rules).stack);
  const auto known_wrong = expected.known_wrong.find(name_of(rules));
  if (known_wrong == expected.known_wrong.end())
    EXPECT_EQ(difference, "") << "case " << name << " with " << name_of(rules)
                              << " rules (- expected, + found):\n"
                              << difference;
  else
    EXPECT_NE(difference, "") << "case " << name << " is right now; take its line 'wrong "
                              << name_of(rules) << " " << known_wrong->second
                              << "' away (tools/mark_wrong.py does it)";
}

class UnwindCases : public ::testing::TestWithParam<std::string> {};

TEST_P(UnwindCases, UnwindAsExpected) {
  std::size_t count = 0;
  for_each_case(GetParam(), [&](const fs::path& name, const Case& loaded, Rules rules) {
    ++count;
    check(name, loaded, rules);
  });
  EXPECT_GT(count, 0u);
}

// Where a stack's copy holds a word, as offsets into Capture::bytes.
std::vector<std::size_t> places_of(std::uint64_t word, const wire::Capture& capture) {
  const std::size_t size = arch::roles_of(capture.arch).pointer_size;
  std::vector<std::size_t> places;
  for (const wire::MemoryPiece& piece : capture.pieces)
    for (std::size_t at = 0; at + size <= piece.size; at += size)
      if (std::memcmp(capture.bytes.data() + piece.offset + at, &word, size) == 0)
        places.push_back(piece.offset + at);
  return places;
}

// A right stack in which one return address after the other is no longer there, as if a rule had
// led to the wrong word. The last two are left out: above them nothing may be that tells.
struct WrongWords {
  std::size_t tried = 0;
  std::size_t ended = 0;  // stacks that were complete up to that word
};

void try_wrong_words(Case& loaded, Rules rules, WrongWords& words) {
  const std::vector<ExpectedFrame>& frames = loaded.expected.frames;
  for (std::size_t i = 1; i + 2 < frames.size(); ++i) {
    if (frames[i].exact) continue;
    for (const std::size_t at : places_of(frames[i].address.value, loaded.capture))
      for (const std::uint64_t wrong : {std::uint64_t{0}, std::uint64_t{0xa5a5a5a5a5a5a5a5}}) {
        const std::size_t size = arch::roles_of(loaded.capture.arch).pointer_size;
        std::memcpy(loaded.capture.bytes.data() + at, &wrong, size);
        const ExpectedStack found = replay(loaded, rules).stack;
        std::memcpy(loaded.capture.bytes.data() + at, &frames[i].address.value, size);
        if (found.frames.size() != i) continue;  // that word was not the return address
        ++words.tried;
        words.ended += is_complete(found.stop) ? 1 : 0;
      }
  }
}

class WrongReturnAddresses : public ::testing::TestWithParam<std::string> {};

// One with a large gap above it may, on a page's last frames.
TEST_P(WrongReturnAddresses, HardlyEndAStack) {
  WrongWords words;
  for_each_case(GetParam(), [&](const fs::path&, Case& loaded, Rules rules) {
    if (difference(loaded.expected, replay(loaded, rules).stack).empty())
      try_wrong_words(loaded, rules, words);
  });
  std::printf("%zu of %zu wrong words ended a stack\n", words.ended, words.tried);
  EXPECT_GT(words.tried, 30u);
  EXPECT_LE(words.ended, words.tried / 50);
}

std::string name_of(const testing::TestParamInfo<std::string>& kernel) {
  std::string name = kernel.param;
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, UnwindCases, ::testing::ValuesIn(kernels()), name_of);
INSTANTIATE_TEST_SUITE_P(Kernels, WrongReturnAddresses, ::testing::ValuesIn(kernels()), name_of);

// So that a tool that changes a case changes no other lines than it means to.
TEST(UnwindCasesText, IsAsCaseExtractWritesIt) {
  for (const std::string& kernel : kernels())
    for (const fs::path& path : cases_of(kernel)) {
      const auto file = MappedFile::open(path);
      ASSERT_TRUE(file) << file.error().message;
      const std::string text(reinterpret_cast<const char*>((*file)->bytes().data()),
                             (*file)->bytes().size());
      const auto parts = parse_case(text, path);
      ASSERT_TRUE(parts) << parts.error().message;
      EXPECT_EQ(case_text(*parts), text) << path;
    }
}

// How many cases there are, so that the set does not shrink unseen. Cases that are wrong today
// count as cases; frames of wrong stacks do not count.
struct Totals {
  std::size_t cases = 0;
  std::size_t entry_code = 0;
  std::map<Arch, std::size_t> by_arch;
  std::map<std::string_view, std::size_t> right_by_rules;
  std::map<FrameSource, std::size_t> right_frames;
};

Totals totals() {
  Totals totals;
  std::string last;
  for (const std::string& kernel : kernels())
    for_each_case(kernel, [&](const fs::path& name, const Case& loaded, Rules rules) {
      if (name != last) {
        ++totals.cases;
        ++totals.by_arch[loaded.capture.arch];
        totals.entry_code += is_entry_class(loaded.expected.class_name) ? 1 : 0;
        last = name;
      }
      const Replay found = replay(loaded, rules);
      if (!difference(loaded.expected, found.stack).empty()) return;
      ++totals.right_by_rules[name_of(rules)];
      for (std::size_t i = 0; i < kFrameSourceCount; ++i)
        totals.right_frames[static_cast<FrameSource>(i)] += found.statistics.frames_by_source[i];
    });
  return totals;
}

TEST(UnwindCasesTotals, AreAsManyAsTheREADMESays) {
  Totals found = totals();
  EXPECT_GE(found.cases, 417u);
  EXPECT_GE(found.entry_code, 322u);
  EXPECT_GE(found.by_arch[Arch::kX86_64], 154u);
  EXPECT_GE(found.by_arch[Arch::kI386], 126u);
  EXPECT_GE(found.by_arch[Arch::kAArch64], 81u);
  EXPECT_GE(found.by_arch[Arch::kRiscv64], 59u);
  EXPECT_GE(found.right_by_rules["orc"], 115u);
  EXPECT_GE(found.right_by_rules["cfi"], 330u);
  EXPECT_GE(found.right_by_rules["code"], 270u);
  EXPECT_GE(found.right_frames[FrameSource::kOrc], 900u);
  EXPECT_GE(found.right_frames[FrameSource::kCfi], 2800u);
  EXPECT_GE(found.right_frames[FrameSource::kFramePointer], 1950u);
  EXPECT_GE(found.right_frames[FrameSource::kInstructions], 580u);
  EXPECT_GE(found.right_frames[FrameSource::kInterruptFrame], 390u);
  for (const auto& [rules, count] : found.right_by_rules)
    std::printf("right with %s rules: %zu of %zu\n", std::string(rules).c_str(), count,
                found.cases);
  std::printf("entry and interrupt code: %zu\n", found.entry_code);
  for (const auto& [source, count] : found.right_frames)
    std::printf("frames by %s: %zu\n", name_of(source), count);
}

}  // namespace
}  // namespace ringside::cases
