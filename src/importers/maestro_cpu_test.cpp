#include "importers/maestro_cpu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "importers/importers_test_util.h"

namespace ringside::importers {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Samples, byte by byte: {0xc0100010, 0xc0100105, 0xc0100209} and {0xffffffff80000010}.
constexpr unsigned char kTwo[] = {
    3,                                               //
    0x10, 0,    0x10, 0xc0, 0,    0,    0,    0,     //
    0x05, 0x01, 0x10, 0xc0, 0,    0,    0,    0,     //
    0x09, 0x02, 0x10, 0xc0, 0,    0,    0,    0,     //
    1,                                               //
    0x10, 0,    0,    0x80, 0xff, 0xff, 0xff, 0xff,  //
};
const std::string kText(reinterpret_cast<const char*>(kTwo), sizeof kTwo);

class MaestroImport : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text, const ImportOptions& options = {}) {
    return import(import_maestro, {text}, options);
  }
  [[nodiscard]] std::vector<std::vector<std::string>> stacks() const {
    std::vector<std::vector<std::string>> stacks;
    for (const auto& sample : recorded.samples) stacks.push_back(sample.frames);
    return stacks;
  }
  [[nodiscard]] std::vector<std::uint64_t> times() const {
    std::vector<std::uint64_t> times;
    for (const auto& sample : recorded.samples) times.push_back(sample.info.time_ns);
    return times;
  }
};

// The leaf is looked up where it is, return addresses at the call before them.
TEST_F(MaestroImport, StacksStayWhole) {
  const auto imported = read(kText);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(stacks(), ElementsAre(ElementsAre("0xc0100010", "0xc0100104", "0xc0100208"),
                                    ElementsAre("0xffffffff80000010")));
  EXPECT_EQ(imported->records, 2u);
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_EQ(recorded.statistics_of[1].due, 2u);
  EXPECT_EQ(recorded.header.engine, "maestro");
  EXPECT_EQ(recorded.sources.at(0).kind, recording::SourceKind::kCpu);
  EXPECT_EQ(recorded.samples[0].info.vcpu, recording::kNoVcpu);
}

TEST_F(MaestroImport, SamplesAreNumbered) {
  ASSERT_TRUE(read(kText + kText));
  EXPECT_THAT(times(), ElementsAre(0, 1, 2, 3));
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.sources.at(0).clock, 1u);
}

// As the original counts: the piece on either side of an unknown frame, and nothing of a sample
// that is unknown altogether. Return addresses are looked up as they are.
TEST_F(MaestroImport, CutsAtFramesWithoutANameWhereThatIsWanted) {
  ImportOptions options;
  options.maestro_name = [](GuestVirt at) -> std::optional<std::string> {
    if (at.value == 0xc0100010) return "kernel::leaf";
    if (at.value == 0xc0100209) return "_start";
    return std::nullopt;
  };
  const auto imported = read(kText + kText, options);
  ASSERT_TRUE(imported);
  EXPECT_THAT(stacks(), ElementsAre(ElementsAre("kernel::leaf"), ElementsAre("_start"),
                                    ElementsAre("kernel::leaf"), ElementsAre("_start")));
  EXPECT_THAT(times(), ElementsAre(0, 0, 2, 2));
  EXPECT_EQ(imported->records, 4u);
  EXPECT_EQ(recorded.statistics_of[1].due, 4u);
}

TEST_F(MaestroImport, PiecesHaveAllTheirFrames) {
  ImportOptions options;
  options.maestro_name = [](GuestVirt at) { return fmt::format("f{:x}", at.value & 0xfff); };
  ASSERT_TRUE(read(kText, options));
  EXPECT_THAT(stacks(), ElementsAre(ElementsAre("f10", "f105", "f209"), ElementsAre("f10")));
}

TEST_F(MaestroImport, KeepsWhatCameBeforeADamage) {
  const auto cut = read(kText.substr(0, 30));
  ASSERT_TRUE(cut);
  EXPECT_EQ(recorded.samples.size(), 1u);
  EXPECT_THAT(cut->warnings, ElementsAre(AllOf(HasSubstr("left out"), HasSubstr("0x1a"))));
  for (const int count : {65, 255}) {
    const auto damaged = read(kText + static_cast<char>(count) + std::string(2040, 'x'));
    ASSERT_TRUE(damaged) << count;
    EXPECT_EQ(recorded.samples.size(), 2u);
    EXPECT_THAT(damaged->warnings, ElementsAre(HasSubstr("offset 0x22")));
  }
}

TEST_F(MaestroImport, ASampleWithoutAnAddressIsSkipped) {
  const std::string none(1, '\0');
  const auto imported = read(none + kText + none + none + kText.substr(0, 25));
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 3u);
  EXPECT_THAT(times(), ElementsAre(0, 1, 2));
  EXPECT_THAT(stacks().at(2), ElementsAre("0xc0100010", "0xc0100104", "0xc0100208"));
  EXPECT_THAT(imported->warnings,
              ElementsAre("input: samples without an address are left out: 3 of 6"));
  EXPECT_EQ(recorded.statistics_of[1].due, 3u);
  const auto empty = read(std::string(9, '\0'));
  ASSERT_FALSE(empty);
  EXPECT_THAT(empty.error().message, HasSubstr("holds zeros only"));
}

TEST_F(MaestroImport, WhatHasNoSampleIsAnError) {
  for (std::size_t size = 0; size < 25; ++size) {
    const auto result = read(kText.substr(0, size));
    ASSERT_FALSE(result) << size;
    EXPECT_EQ(result.error().code, ErrorCode::kTruncated);
    EXPECT_THAT(result.error().message, AllOf(HasSubstr("input"), HasSubstr("offset 0x")));
  }
  EXPECT_EQ(read("text").error().code, ErrorCode::kFormat);
}

TEST(MaestroLikeness, IsOfAllSamples) {
  const auto likeness = [](const std::string& text, const ImportOptions& options = {}) {
    return maestro_likeness({"input", as_bytes(text), {}}, options);
  };
  EXPECT_EQ(likeness(kText), Likeness::kFits);
  EXPECT_EQ(likeness(kText.substr(0, 25)), Likeness::kFits);  // the first of the two
  for (std::size_t size = 0; size < kText.size(); ++size)
    EXPECT_TRUE(size == 25 || likeness(kText.substr(0, size)) == Likeness::kNone) << size;
  EXPECT_EQ(likeness(kText + std::string(2, '\0')), Likeness::kFits);
  EXPECT_EQ(likeness(kText + std::string(3, '\0')), Likeness::kNone);
  // A text that would parse: a line of 8 letters behind a newline, which is 10.
  EXPECT_EQ(likeness("\n" + std::string(80, 'a')), Likeness::kNone);
  ImportOptions options;
  options.kernel_code = {{{0xffffffff81000000}, {0xffffffff82000000}}};
  EXPECT_EQ(likeness(kText, options), Likeness::kNone);
  options.kernel_code = {{{0xc0100000}, {0xc0200000}}};
  EXPECT_EQ(likeness(kText, options), Likeness::kFits);
}

}  // namespace
}  // namespace ringside::importers
