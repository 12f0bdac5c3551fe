#include "importers/perf_data/perf_data.h"

#include <gmock/gmock.h>

#include "importers/importers_test_util.h"
#include "importers/perf_data/perf_data_test_util.h"

namespace ringside::importers::perf_data {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class PerfDataTest : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) { return import(import_perf_data, {text}); }
  static Likeness likeness(const std::string& text) {
    return perf_data_likeness({"input", as_bytes(text), {}}, {});
  }
  static TestFile one_sample() {
    TestFile file;
    file.comm(7, 7, "busy", 90).sample(kUser, 0x1000, 7, 100, {kContextUser, 0x1000, 0x2000});
    return file;
  }
};

TEST_F(PerfDataTest, IsKnownByItsMagic) {
  EXPECT_EQ(likeness(one_sample().file()), Likeness::kCertain);
  EXPECT_EQ(likeness(one_sample().pipe()), Likeness::kCertain);
  EXPECT_EQ(likeness("PERFILE3" + std::string(100, '\0')), Likeness::kNone);
  EXPECT_EQ(likeness("PERFILE2"), Likeness::kNone);
  EXPECT_EQ(likeness(""), Likeness::kNone);
}

TEST_F(PerfDataTest, ReadsAFileAndAPipeAlike) {
  for (const std::string& text : {one_sample().file(), one_sample().pipe()}) {
    const auto result = read(text);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_EQ(result->records, 1);
    EXPECT_TRUE(result->warnings.empty());
    ASSERT_EQ(recorded.samples.size(), 1);
    const recording::SampleInfo& info = recorded.samples[0].info;
    EXPECT_EQ(info.pid, 7);
    EXPECT_EQ(info.tid, 7);
    EXPECT_EQ(info.vcpu, VcpuId{1});
    EXPECT_EQ(info.level, PrivilegeLevel::kUser);
    EXPECT_EQ(info.weight, 250000);
    EXPECT_EQ(info.time_ns, 0);
    EXPECT_EQ(recorded.header.start_monotonic_ns, 100);
    EXPECT_EQ(recorded.header.engine, "perf-data");
    EXPECT_EQ(recorded.header.interval_ns, 250000);  // of 4000 Hz
    EXPECT_THAT(recorded.samples[0].frames, ElementsAre("0x1000", "0x1fff"));
    ASSERT_EQ(recorded.thread_names.size(), 1);
    EXPECT_EQ(recorded.thread_names[0].name, "busy");
    ASSERT_EQ(recorded.sources.size(), 1);
    EXPECT_EQ(recorded.sources[0].name, "cpu-clock");
    EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kNanoseconds);
  }
}

TEST_F(PerfDataTest, TakesWhatTheHeaderSays) {
  TestFile file = one_sample();
  file.feature(FeatureId::kHostname, Body().sized_text("somewhere"))
      .feature(FeatureId::kRelease, Body().sized_text("6.1.0-9"))
      .feature(FeatureId::kArch, Body().sized_text("aarch64"))
      .feature(FeatureId::kProcessors, Body().u32(8).u32(6))
      .feature(FeatureId::kCommandLine, Body().u32(2).sized_text("perf").sized_text("record"))
      .feature(FeatureId::kClockData, Body().u32(1).u32(1).words({5000, 40}));
  ASSERT_TRUE(read(file.file()));
  EXPECT_EQ(recorded.header.host, "somewhere");
  EXPECT_EQ(recorded.header.kernel, "6.1.0-9");
  EXPECT_EQ(recorded.header.arch, Arch::kAArch64);
  EXPECT_EQ(recorded.header.vcpu_count, 6);
  EXPECT_THAT(recorded.header.command_line, ElementsAre("perf", "record"));
  EXPECT_EQ(recorded.header.start_wall_ns, 5060);
}

TEST_F(PerfDataTest, RefusesOtherByteOrdersInWords) {
  std::string text = one_sample().file();
  text.replace(0, 8, "2ELIFREP");
  const auto result = read(text);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(result.error().message, HasSubstr("big-endian"));
  EXPECT_EQ(likeness(text), Likeness::kCertain);
}

TEST_F(PerfDataTest, SaysWhatIsMissingWhereNothingIsRead) {
  auto result = read(TestFile().file());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kFormat);
  EXPECT_THAT(result.error().message, HasSubstr("input: no sample"));
  result = read("PERFILE2" + Body().u64(104).get());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kTruncated);
}

TEST_F(PerfDataTest, ReadsAFileThatPerfCouldNotFinish) {
  std::string text = one_sample().file();
  text.replace(48, 8, 8, '\0');  // the size of the records
  const auto result = read(text);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(recorded.samples.size(), 1);
  ASSERT_EQ(result->warnings.size(), 1);
  EXPECT_THAT(result->warnings[0], HasSubstr("could not finish"));
}

TEST_F(PerfDataTest, KeepsWhatCameBeforeACut) {
  TestFile file(TestEvent{.ids = {5}, .name = "named"});
  for (std::uint64_t i = 0; i < 3; ++i)
    file.sample(kUser, 0x1000, 7, 100 + i, {kContextUser, 0x1000}).round();
  for (const std::string& text : {file.file(), file.pipe()}) {
    std::uint64_t most = 0;
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const auto result = read(text.substr(0, size));
      if (!result) {
        EXPECT_FALSE(result.error().message.empty());
        EXPECT_EQ(most, 0) << size;
        continue;
      }
      EXPECT_GE(result->records, most) << size;
      most = std::max(most, result->records);
    }
    EXPECT_EQ(most, 3);
  }
}

TEST_F(PerfDataTest, ReadsNothingBehindARecordWithoutSize) {
  TestFile file = one_sample();
  file.add(std::string(8, '\0')).sample(kUser, 0x1000, 7, 100);
  const auto result = read(file.file());
  ASSERT_TRUE(result);
  EXPECT_EQ(recorded.samples.size(), 1);
  ASSERT_EQ(result->warnings.size(), 1);
  EXPECT_THAT(result->warnings[0], HasSubstr("a record of 0 bytes"));
}

TEST_F(PerfDataTest, LeavesOutSamplesThatAreTooShort) {
  TestFile file = one_sample();
  file.add(record(RecordType::kSample, kUser, Body().u64(1).u64(2).u64(3)));
  const auto result = read(file.file());
  ASSERT_TRUE(result);
  EXPECT_EQ(recorded.samples.size(), 1);
  ASSERT_EQ(result->warnings.size(), 1);
  EXPECT_THAT(result->warnings[0], HasSubstr("shorter than its event says"));
}

TEST_F(PerfDataTest, PassesOverDataBehindRecords) {
  TestFile file;
  file.add(record(RecordType::kAuxtrace, 0, Body().words({24, 0, 0, 0, 0})))
      .add(std::string(24, '\xff'))
      .add(record(RecordType::kTracingData, 0, Body().u32(5)))
      .add(std::string(8, '\xff'))
      .sample(kUser, 0x1000, 7, 100);
  const auto result = read(file.pipe());
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(recorded.samples.size(), 1);
  EXPECT_TRUE(result->warnings.empty());
}

}  // namespace
}  // namespace ringside::importers::perf_data
