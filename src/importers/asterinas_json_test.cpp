#include "importers/asterinas_json.h"

#include <gmock/gmock.h>

#include "importers/importers_test_util.h"

namespace ringside::importers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class AsterinasJson : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) { return import(&import_asterinas_json, {text}); }
  std::string error(const std::string& text) {
    const auto result = read(text);
    return result ? "" : result.error().message;
  }
  static Likeness likeness(const std::string& text) {
    return asterinas_json_likeness({"input", as_bytes(text), {}}, {});
  }
};

constexpr const char* kTwoCaptures =
    R"({"stack_traces":[{"0":["ostd::task::idle","main"],"1":["??","main"]},{"0":["copy","main"]}]})";

TEST_F(AsterinasJson, ACaptureIsOneTickOfItsCpus) {
  const auto imported = read(kTwoCaptures);
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 3u);
  EXPECT_THAT(imported->warnings, IsEmpty());
  ASSERT_EQ(recorded.samples.size(), 3u);
  EXPECT_EQ(recorded.samples[0].info.time_ns, 0u);
  EXPECT_EQ(recorded.samples[0].info.vcpu, VcpuId{0});
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("ostd::task::idle", "main"));
  EXPECT_EQ(recorded.samples[1].info.time_ns, 0u);
  EXPECT_EQ(recorded.samples[1].info.vcpu, VcpuId{1});
  EXPECT_EQ(recorded.samples[2].info.time_ns, 1u);
  ASSERT_EQ(recorded.sources.size(), 1u);
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kCpu);
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kTicks);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.statistics_of[1].due, 3u);
}

TEST_F(AsterinasJson, AnUnknownFrameHasNoName) {
  ASSERT_TRUE(read(kTwoCaptures));
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("0x0", "main"));
}

TEST_F(AsterinasJson, NothingSaysWhatIsTheKernels) {
  ASSERT_TRUE(read(kTwoCaptures));
  for (const Recorded::OneSample& sample : recorded.samples)
    EXPECT_EQ(sample.info.level, PrivilegeLevel::kUnknown);
  for (std::size_t i = 1; i < recorded.frames.size(); ++i)
    EXPECT_EQ(recorded.frames[i].kind, FrameKind::kCode);
}

TEST_F(AsterinasJson, NamesKeepTheirBlanks) {
  ASSERT_TRUE(read(R"({"stack_traces":[{"0":["<T as Drop>::drop","call_once {shim} ","a  b"]}]})"));
  EXPECT_THAT(recorded.samples.at(0).frames,
              ElementsAre("<T as Drop>::drop", "call_once {shim} ", "a  b"));
}

TEST_F(AsterinasJson, EmptyCapturesKeepTheirNumber) {
  ASSERT_TRUE(read(R"({"stack_traces":[{},{},{"4":["f"]},{},{"4":["f"]}]})"));
  ASSERT_EQ(recorded.samples.size(), 5u);
  for (std::uint64_t capture = 0; capture < 5; ++capture) {
    const recording::SampleInfo& info = recorded.samples[capture].info;
    const bool has_stack = capture == 2 || capture == 4;
    EXPECT_EQ(info.time_ns, capture);
    EXPECT_EQ(info.vcpu, has_stack ? VcpuId{4} : recording::kNoVcpu);
    EXPECT_EQ(info.disposition,
              has_stack ? wire::Disposition::kSampled : wire::Disposition::kSkipped);
  }
  EXPECT_EQ(recorded.statistics_of[1].due, 5u);
}

TEST_F(AsterinasJson, OtherMembersAreSkipped) {
  ASSERT_TRUE(read(R"({"version":{"a":[1,{"0":["x"]}]},"stack_traces":[{"0":["f"]}],"more":"x"})"));
  ASSERT_EQ(recorded.samples.size(), 1u);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("f"));
}

TEST_F(AsterinasJson, FaultsAreCountedAndTheRestIsRead) {
  const auto imported =
      read(R"({"stack_traces":[{"65535":["a"],"-1":[],"x":["a"],"65534":["b"],"65534":["b"]},)"
           R"(7,{"0":"no array","1":[3],"2":["c"]}]})");
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 2u);
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_THAT(imported->warnings[0], HasSubstr("7 stacks are left out; the first is at offset"));
  EXPECT_THAT(imported->warnings[0], HasSubstr("a CPU's key is a number below 65535"));
  ASSERT_EQ(recorded.samples.size(), 3u);
  EXPECT_EQ(recorded.samples[0].info.vcpu.value, 65534);
  EXPECT_EQ(recorded.samples[1].info.disposition, wire::Disposition::kSkipped);
  EXPECT_EQ(recorded.samples[2].info.time_ns, 2u);
}

TEST_F(AsterinasJson, FilesOfAnotherShapeAreRefusedInWords) {
  EXPECT_THAT(error(R"({"captures":[]})"), HasSubstr("no array \"stack_traces\""));
  EXPECT_THAT(error(R"({"stack_traces":{"0":["f"]}})"), HasSubstr("no array \"stack_traces\""));
  EXPECT_THAT(error(R"({"stack_traces":[{},{}]})"), HasSubstr("none of its 2 captures"));
  EXPECT_THAT(error(R"({"stack_traces":[{"cpu0":["f"]}]})"), HasSubstr("a CPU's key"));
  EXPECT_THAT(error("[1,"), HasSubstr("input: offset 0x3: "));
  EXPECT_THAT(error("{\"stack_traces\" 1}"), HasSubstr("offset"));
}

TEST_F(AsterinasJson, KeepsWhatCameBeforeACut) {
  const std::string text = kTwoCaptures;
  std::uint64_t before = 0;
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const auto imported = read(text.substr(0, size));
    const std::uint64_t records = imported ? imported->records : 0;
    EXPECT_GE(records, before);
    EXPECT_EQ(recorded.samples.size(), records);
    before = records;
    if (imported && size < text.size()) {
      ASSERT_EQ(imported->warnings.size(), 1u);
      EXPECT_THAT(imported->warnings[0], HasSubstr("the rest is left out, from offset"));
    }
  }
  EXPECT_EQ(before, 3u);
}

TEST_F(AsterinasJson, DeepStacksKeepTheirInnerFrames) {
  std::string frames = "\"leaf\"";
  for (int i = 0; i < 3000; ++i) frames += ",\"recurse\"";
  const auto imported = read(R"({"stack_traces":[{"0":[)" + frames + "]}]}");
  ASSERT_TRUE(imported);
  ASSERT_EQ(recorded.samples.size(), 1u);
  EXPECT_EQ(recorded.samples[0].frames.size(), 512u);
  EXPECT_EQ(recorded.samples[0].frames[0], "leaf");
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("the outer frames of 1 stack are")));
}

TEST_F(AsterinasJson, DeepNestingIsRefused) {
  EXPECT_THAT(error(std::string(100'000, '[')), HasSubstr("more than 256 objects and arrays"));
  EXPECT_THAT(error(R"({"x":)" + std::string(100'000, '[')), HasSubstr("more than 256"));
}

TEST_F(AsterinasJson, IsRecognizedByItsFirstMember) {
  EXPECT_EQ(likeness(kTwoCaptures), Likeness::kCertain);
  EXPECT_EQ(likeness("\n{ \"stack_traces\" : [] }"), Likeness::kCertain);
  EXPECT_EQ(likeness("{\"stack\":[]}"), Likeness::kNone);
  EXPECT_EQ(likeness(""), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
