#include "importers/maestro_memtrace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "importers/importers_test_util.h"
#include "importers/maestro_cpu.h"

namespace ringside::importers {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Byte by byte: malloc reallocates 0xc1000040 to 24 bytes, from two frames; buddy frees a page.
constexpr unsigned char kTwo[] = {
    6,    'm',  'a',  'l',  'l',  'o',  'c',  1,     //
    0x40, 0x00, 0x00, 0xc1, 0,    0,    0,    0,     //
    24,   0,    0,    0,    0,    0,    0,    0,     //
    2,                                               //
    0x10, 0,    0x10, 0xc0, 0,    0,    0,    0,     //
    0x05, 0x01, 0x10, 0xc0, 0,    0,    0,    0,     //
    5,    'b',  'u',  'd',  'd',  'y',  2,           //
    0x00, 0x20, 0x00, 0x00, 0,    0,    0,    0,     //
    1,    0,    0,    0,    0,    0,    0,    0,     //
    1,                                               //
    0x10, 0,    0,    0x80, 0xff, 0xff, 0xff, 0xff,  //
};
constexpr std::size_t kSecond = 41;  // where the second record begins
const std::string kText(reinterpret_cast<const char*>(kTwo), sizeof kTwo);

std::string number(std::uint64_t value) {
  std::string text;
  for (int shift = 0; shift < 64; shift += 8) text += static_cast<char>(value >> shift);
  return text;
}

std::string record(const std::string& allocator, int operation, std::uint64_t pointer,
                   std::uint64_t size, const std::vector<std::uint64_t>& frames) {
  std::string text(1, static_cast<char>(allocator.size()));
  text += allocator + static_cast<char>(operation) + number(pointer) + number(size);
  text += static_cast<char>(frames.size());
  for (const std::uint64_t frame : frames) text += number(frame);
  return text;
}

class MemtraceImport : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) {
    auto result = import(import_maestro_memtrace, {text});
    // Tables are written one behind the other.
    std::sort(recorded.happened.begin(), recorded.happened.end(),
              [](const auto& a, const auto& b) { return a.time < b.time; });
    return result;
  }
  [[nodiscard]] std::vector<std::uint64_t> times() const {
    std::vector<std::uint64_t> times;
    for (const auto& event : recorded.happened) times.push_back(event.time);
    return times;
  }
};

TEST_F(MemtraceImport, RecordsAreEventsOfTheirAllocators) {
  const auto imported = read(kText);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 2u);
  EXPECT_THAT(imported->warnings, IsEmpty());
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[0].name, "malloc");
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kAllocations);
  EXPECT_EQ(recorded.sources[0].values.at(1).unit, recording::WeightUnit::kBytes);
  EXPECT_EQ(recorded.sources[1].name, "buddy");
  EXPECT_EQ(recorded.sources[1].values.at(1).unit, recording::WeightUnit::kPages);
  ASSERT_EQ(recorded.happened.size(), 2u);
  // The block is where it was, as far as the record has it. All frames are return addresses.
  EXPECT_THAT(recorded.happened[0].fields,
              ElementsAre("operation realloc", "pointer 3238002752", "old 3238002752", "size 24"));
  EXPECT_THAT(recorded.happened[0].frames, ElementsAre("0xc010000f", "0xc0100104"));
  EXPECT_EQ(recorded.happened[1].type, "buddy");
  EXPECT_THAT(recorded.happened[1].fields,
              ElementsAre("operation free", "pointer 8192", "old 0", "size 1"));
  EXPECT_THAT(recorded.happened[1].frames, ElementsAre("0xffffffff8000000f"));
}

TEST_F(MemtraceImport, TimesAreNumbersOfRecordsOfAllAllocators) {
  ASSERT_TRUE(read(kText + kText));
  EXPECT_THAT(times(), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(recorded.happened[2].type, "malloc");
  EXPECT_EQ(recorded.happened[3].type, "buddy");
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.sources[0].clock, recorded.clocks[0].id);
  EXPECT_EQ(recorded.sources[1].clock, recorded.clocks[0].id);
}

TEST_F(MemtraceImport, ARecordMayHaveNoFrameAndANameOfAnyBytes) {
  const std::string name("\x80\0'/", 4);
  ASSERT_TRUE(read(record(name, 0, 1, 2, {}) + record("", 0, 1, 2, {7})));
  ASSERT_EQ(recorded.happened.size(), 2u);
  EXPECT_THAT(recorded.happened,
              ::testing::Contains(::testing::Field(&Recorded::OneEvent::type, name)));
  EXPECT_THAT(recorded.happened,
              ::testing::Contains(::testing::Field(&Recorded::OneEvent::type, "")));
}

TEST_F(MemtraceImport, ReadingEndsAtACutRecord) {
  for (std::size_t size = kSecond + 1; size < kText.size(); ++size) {
    const auto imported = read(kText.substr(0, size));
    ASSERT_TRUE(imported) << size;
    EXPECT_EQ(imported->records, 1u);
    EXPECT_EQ(recorded.happened.size(), 1u);
    EXPECT_THAT(imported->warnings,
                ElementsAre(AllOf(HasSubstr("left out"), HasSubstr("offset 0x29 is cut"))));
  }
}

// As on a disk, which is longer than what a kernel has written to it.
TEST_F(MemtraceImport, ZerosUpToTheEndAreNoRecords) {
  for (const std::size_t zeros : {1, 7, 18, 19, 20, 38, 4096, 4103}) {
    const std::string padded = kText + std::string(zeros, '\0');
    const auto imported = read(padded);
    ASSERT_TRUE(imported) << zeros;
    EXPECT_EQ(imported->records, 2u) << zeros;
    EXPECT_EQ(recorded.happened.size(), 2u) << zeros;
    EXPECT_THAT(imported->warnings, IsEmpty()) << zeros;
    EXPECT_EQ(maestro_memtrace_likeness({"input", as_bytes(padded), {}}, {}), Likeness::kFits);
  }
  const auto none = read(std::string(100, '\0'));
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("zeros only"));
}

TEST_F(MemtraceImport, ZerosInTheMiddleAreRecords) {
  const auto imported = read(kText + std::string(38, '\0') + kText + std::string(19, '\0'));
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 6u);
  EXPECT_THAT(imported->warnings, IsEmpty());
}

TEST_F(MemtraceImport, ReadingEndsAtAnImpossibleRecord) {
  std::string damaged = kText + kText;
  damaged[kText.size() + 7] = 3;  // the operation
  auto imported = read(damaged);
  ASSERT_TRUE(imported);
  EXPECT_EQ(recorded.happened.size(), 2u);
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("operation at offset 0x50 is 3")));
  damaged = kText + kText;
  damaged[kText.size() + 24] = 65;  // the number of frames
  imported = read(damaged + std::string(1000, 'x'));
  ASSERT_TRUE(imported);
  EXPECT_EQ(recorded.happened.size(), 2u);
  EXPECT_THAT(imported->warnings,
              ElementsAre(AllOf(HasSubstr("offset 0x61"), HasSubstr("65 frames"))));
}

TEST_F(MemtraceImport, SixtyFourFramesAreTheMost) {
  ASSERT_TRUE(read(record("malloc", 0, 1, 2, std::vector<std::uint64_t>(64, 0xc0100000))));
  EXPECT_EQ(recorded.happened.at(0).frames.size(), 64u);
}

TEST_F(MemtraceImport, WhatHasNoRecordIsAnError) {
  for (std::size_t size = 0; size < kSecond; ++size) {
    const auto result = read(kText.substr(0, size));
    ASSERT_FALSE(result) << size;
    EXPECT_EQ(result.error().code, ErrorCode::kTruncated);
    EXPECT_THAT(result.error().message, AllOf(HasSubstr("input"), HasSubstr("offset 0x0")));
  }
  EXPECT_EQ(read("\3abcdefghijklmnopqrstuvwxyz").error().code, ErrorCode::kFormat);
}

TEST_F(MemtraceImport, AllocatorsBeyondABoundAreLeftOutAndCounted) {
  std::string text;
  for (int n = 0; n < 1030; ++n) text += record(fmt::format("a{}", n), 0, 1, 2, {});
  const auto imported = read(text);
  ASSERT_TRUE(imported);
  EXPECT_EQ(recorded.happened.size(), 1024u);
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("6 records")));
}

TEST(MemtraceLikeness, IsOfRecordsWithKernelAddresses) {
  const auto likeness = [](const std::string& text, const ImportOptions& options = {}) {
    return maestro_memtrace_likeness({"input", as_bytes(text), {}}, options);
  };
  EXPECT_EQ(likeness(kText), Likeness::kFits);
  EXPECT_EQ(likeness(kText + "\6mal"), Likeness::kFits);  // its end is cut
  for (std::size_t size = 0; size < kSecond; ++size)
    EXPECT_EQ(likeness(kText.substr(0, size)), Likeness::kNone) << size;
  EXPECT_EQ(likeness(record("my allocator", 0, 1, 2, {0xc0100000})), Likeness::kNone);
  EXPECT_EQ(likeness(record("malloc", 0, 1, 2, {0x3f00'0000'0000'0000})), Likeness::kNone);
  EXPECT_EQ(likeness(kText + record("malloc", 3, 1, 2, {0xc0100000})), Likeness::kNone);
  // A line feed is the length of a name here.
  EXPECT_EQ(likeness("\n" + std::string(80, 'a')), Likeness::kNone);
  ImportOptions options;
  options.kernel_code = {{{0xffffffff81000000}, {0xffffffff82000000}}};
  EXPECT_EQ(likeness(kText, options), Likeness::kNone);
  options.kernel_code = {{{0xc0100000}, {0xc0200000}}};
  EXPECT_EQ(likeness(kText, options), Likeness::kFits);
}

// Each of Maestro's two formats is none of the other.
TEST(MemtraceLikeness, IsNotOfCpuSamples) {
  std::string samples;
  for (std::uint64_t n = 0; n < 100; ++n)
    samples += '\2' + number(0xc0100000 + n) + number(0xc0100400 + n);
  EXPECT_EQ(maestro_memtrace_likeness({"input", as_bytes(samples), {}}, {}), Likeness::kNone);
  EXPECT_EQ(maestro_likeness({"input", as_bytes(samples), {}}, {}), Likeness::kFits);
  EXPECT_EQ(maestro_likeness({"input", as_bytes(kText), {}}, {}), Likeness::kNone);
}

// Files that the other importers' fuzzers begin with, and those of memtrace.
TEST(MemtraceLikeness, NoFormatTakesAnothersFiles) {
  namespace fs = std::filesystem;
  std::size_t others = 0;
  std::size_t own = 0;
  for (const auto& entry : fs::recursive_directory_iterator(RINGSIDE_TESTDATA)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const Input input{entry.path(), as_bytes(text), {}};
    if (entry.path().parent_path().filename() != "corpus-maestro-memtrace") {
      ++others;
      EXPECT_EQ(maestro_memtrace_likeness(input, {}), Likeness::kNone) << entry.path();
      continue;
    }
    if (maestro_memtrace_likeness(input, {}) == Likeness::kNone) continue;
    ++own;
    for (const Format& format : formats()) {
      const bool is_own = std::string_view(format.name) == "maestro-memtrace";
      EXPECT_TRUE(is_own || format.likeness(input, {}) == Likeness::kNone)
          << entry.path() << format.name;
    }
  }
  EXPECT_GT(others, 40u);
  EXPECT_GE(own, 3u);
}

}  // namespace
}  // namespace ringside::importers
