#include <gmock/gmock.h>

#include "importers/importers_test_util.h"
#include "importers/perf_data/perf_data.h"
#include "importers/perf_data/perf_data_test_util.h"

// Events, threads, and the order of records.
namespace ringside::importers::perf_data {
namespace {

using ::testing::ElementsAre;

class PerfDataEventsTest : public ImportTest {
 protected:
  void read(const TestFile& file) {
    const auto result = import(import_perf_data, {file.file()});
    ASSERT_TRUE(result) << result.error().message;
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const recording::ThreadName& name : recorded.thread_names) names.push_back(name.name);
    return names;
  }
};

TEST_F(PerfDataEventsTest, TellsEventsApartByTheirIds) {
  constexpr std::uint64_t kType = sample::kIdentifier | sample::kIp | sample::kTime;
  TestFile file(std::vector<TestEvent>{
      {.sample_type = kType | sample::kPeriod, .ids = {11, 12}, .name = "cpu-clock:u"},
      {.type = kTypeTracepoint,
       .config = 300,
       .period = 1,
       .sample_type = kType,
       .flags = kFlagSampleIdAll,
       .ids = {21},
       .name = "sched:sched_switch"},
      {.config = 9, .sample_type = kType, .ids = {31}, .name = "dummy:HG"}});
  file.add(record(RecordType::kSample, kUser, Body().words({12, 0x1000, 50, 777})))
      .add(record(RecordType::kSample, kKernel, Body().words({21, 0x2000, 60})))
      .add(record(RecordType::kSample, kKernel, Body().words({99, 0x2000, 60})));
  const auto result = import(import_perf_data, {file.file()});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->warnings, ElementsAre(::testing::HasSubstr("does not describe")));
  ASSERT_EQ(recorded.sources.size(), 2);
  EXPECT_EQ(recorded.sources[0].name, "cpu-clock:u");
  EXPECT_EQ(recorded.sources[1].name, "sched:sched_switch");
  EXPECT_EQ(recorded.sources[1].values[0].unit, recording::WeightUnit::kCount);
  ASSERT_EQ(recorded.samples.size(), 2);
  EXPECT_EQ(recorded.samples[0].info.source, 1);
  EXPECT_EQ(recorded.samples[0].info.weight, 777);
  EXPECT_EQ(recorded.samples[1].info.source, 2);
  EXPECT_EQ(recorded.samples[1].info.weight, 1);  // the attribute's period
  EXPECT_EQ(recorded.samples[1].info.vcpu, recording::kNoVcpu);
  EXPECT_FALSE(recorded.samples[1].info.pid);
}

// As of 'perf record -e cpu-clock -e cpu-clock'.
TEST_F(PerfDataEventsTest, EventsOfOneNameHaveNumbers) {
  constexpr std::uint64_t kType = sample::kIdentifier | sample::kIp | sample::kTime;
  TestFile file(std::vector<TestEvent>{{.sample_type = kType, .ids = {11}, .name = "cpu-clock"},
                                       {.sample_type = kType, .ids = {21}, .name = "task-clock"},
                                       {.sample_type = kType, .ids = {31}, .name = "cpu-clock"},
                                       {.sample_type = kType, .ids = {41}, .name = "cpu-clock"}});
  for (const std::uint64_t id : {11, 31, 31})
    file.add(record(RecordType::kSample, kUser, Body().words({id, 0x1000, 50})));
  read(file);
  std::vector<std::string> sources;
  for (const recording::Source& source : recorded.sources) sources.push_back(source.name);
  EXPECT_THAT(sources, ElementsAre("cpu-clock#2", "cpu-clock", "task-clock", "cpu-clock#3"));
}

// Its samples are in files beside it.
TEST_F(PerfDataEventsTest, AFileOfAFolderHasNoSamples) {
  TestFile file;
  file.map(kUser, 7, 0x1000, 0x1000, 0, "/bin/w", 0).feature(FeatureId::kFolder, Body().words({1}));
  const auto result = import(import_perf_data, {file.file()});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("'perf record --threads'"));
  EXPECT_THAT(result.error().message, ::testing::HasSubstr("'perf script -i FOLDER'"));
}

// Also where records are of a pipe, and the first sample is of another event.
TEST_F(PerfDataEventsTest, TheEventWithMostSamplesIsTheFirstSource) {
  constexpr std::uint64_t kType = sample::kIdentifier | sample::kIp | sample::kTime;
  TestFile file(std::vector<TestEvent>{
      {.config = 9, .period = 1, .sample_type = kType, .ids = {11}, .name = "dummy:u"},
      {.config = 2, .period = 1, .sample_type = kType, .flags = 0, .ids = {21}, .name = "faults"},
      {.sample_type = kType, .ids = {31, 32}, .name = "cpu-clock"}});
  file.add(record(RecordType::kSample, kUser, Body().words({21, 0x1000, 50})))
      .add(record(RecordType::kSample, kKernel, Body().words({31, 0x2000, 60})))
      .add(record(RecordType::kSample, kKernel, Body().words({32, 0x2000, 70})));
  for (const std::string& text : {file.file(), file.pipe()}) {
    const auto result = import(import_perf_data, {text});
    ASSERT_TRUE(result) << result.error().message;
    ASSERT_EQ(recorded.sources.size(), 2u);
    EXPECT_EQ(recorded.sources[0].period, 250'000u);  // of 4000 Hz
    EXPECT_EQ(recorded.header.interval_ns, 250'000u);
    EXPECT_EQ(recorded.statistics_of[1].due, 2u);
    EXPECT_EQ(recorded.statistics_of[2].due, 1u);
  }
}

// So does perf 6.1: a sample is one for each event of the group, by how far its counter went.
TEST_F(PerfDataEventsTest, CountsEachEventOfAGroup) {
  constexpr std::uint64_t kFormat =
      read_format::kGroup | read_format::kId | read_format::kLost | read_format::kTimeEnabled;
  constexpr std::uint64_t kType = sample::kIp | sample::kTime | sample::kId | sample::kRead;
  TestFile file(std::vector<TestEvent>{
      {.sample_type = kType, .read_format = kFormat, .ids = {1}, .name = "leader"},
      {.config = 2,
       .sample_type = kType,
       .read_format = kFormat,
       .ids = {2},
       .name = "page-faults"}});
  const auto add = [&](std::uint64_t time, std::uint64_t leader, std::uint64_t faults) {
    file.add(record(RecordType::kSample, kUser,
                    Body().words({0x1000, time, 1, 2, 999, leader, 1, 0, faults, 2, 0})));
  };
  add(10, 100, 5);
  add(20, 250, 5);
  add(30, 300, 9);
  read(file);
  std::vector<std::pair<std::uint32_t, std::uint64_t>> values;
  for (const auto& one : recorded.samples) values.emplace_back(one.info.source, one.info.weight);
  using Value = std::pair<std::uint32_t, std::uint64_t>;
  // Sources stand apart.
  EXPECT_THAT(values,
              ElementsAre(Value{1, 100}, Value{1, 150}, Value{1, 50}, Value{2, 5}, Value{2, 4}));
}

TEST_F(PerfDataEventsTest, NamesThreadsAsTheyAreThen) {
  TestFile file;
  file.comm(7, 7, "first", 10)
      .sample(kUser, 0x1000, 7, 20)
      .fork(7, 8, 30)
      .sample(kUser, 0x1000, 8, 40)
      .comm(8, 8, "second", 50)
      .sample(kUser, 0x1000, 8, 60)
      .sample(kUser, 0x1000, 8, 70);
  read(file);
  EXPECT_THAT(names(), ElementsAre("first", "first", "second"));
  EXPECT_EQ(recorded.thread_names[2].time_ns, 40);  // of the sample
  EXPECT_EQ(recorded.thread_names[2].tid, 8);
}

TEST_F(PerfDataEventsTest, NamesAThreadAsItWasCalledLast) {
  TestFile file;
  file.comm(7, 7, "first", 10)
      .sample(kUser, 0x1000, 7, 20)
      .comm(7, 7, "second", 30)
      .comm(8, 8, "without samples", 30);
  read(file);
  EXPECT_THAT(names(), ElementsAre("first", "second"));
  EXPECT_EQ(recorded.thread_names[1].time_ns, 1);  // behind the last sample
}

TEST_F(PerfDataEventsTest, NamesMainThreadsWithoutSamples) {
  TestFile file;
  file.comm(7, 7, "leader", 10)
      .comm(7, 8, "worker", 10)
      .comm(9, 9, "without samples", 10)
      .sample_of(kUser, 0x1000, 7, 8, 20);
  read(file);
  EXPECT_THAT(names(), ElementsAre("worker", "leader"));
  EXPECT_EQ(recorded.thread_names[1].pid, 7);
  EXPECT_EQ(recorded.thread_names[1].tid, 7);
}

// Records of processors stand one behind the other.
TEST_F(PerfDataEventsTest, OrdersRecordsByTime) {
  TestFile file;
  file.sample(kUser, 0x1000, 7, 30)
      .sample(kUser, 0x1000, 7, 60)
      .round()
      .comm(7, 7, "early", 10)
      .sample(kUser, 0x1000, 7, 20)
      .comm(7, 7, "late", 40)
      .round()
      .sample(kUser, 0x1000, 7, 70);
  read(file);
  std::vector<std::uint64_t> times;
  for (const auto& one : recorded.samples) times.push_back(one.info.time_ns);
  EXPECT_THAT(times, ElementsAre(0, 10, 40, 50));
  EXPECT_THAT(names(), ElementsAre("early", "late"));
  EXPECT_EQ(recorded.thread_names[1].time_ns, 40);
}

TEST_F(PerfDataEventsTest, CountsLostRecords) {
  TestFile file(TestEvent{.ids = {5}});
  file.sample(kUser, 0x1000, 7, 20)
      .add(record(RecordType::kLost, 0, Body().u64(5).u64(40).bytes(TestFile::trailer(7, 30))))
      .add(record(RecordType::kLost, 0, Body().u64(5).u64(2).bytes(TestFile::trailer(7, 40))))
      .add(record(RecordType::kLostSamples, 0, Body().u64(41).bytes(TestFile::trailer(7, 0))));
  read(file);
  EXPECT_EQ(recorded.statistics_of[1].lost, 42);  // both count the same
  EXPECT_EQ(recorded.statistics_of[1].due, 43);
}

TEST_F(PerfDataEventsTest, NumbersSamplesWithoutTime) {
  TestFile file(TestEvent{.sample_type = sample::kIp | sample::kTid});
  for (int i = 0; i < 3; ++i)
    file.add(record(RecordType::kSample, kUser, Body().u64(0x1000).u32(7).u32(7)));
  read(file);
  ASSERT_EQ(recorded.clocks.size(), 1);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.sources[0].clock, recorded.clocks[0].id);
  ASSERT_EQ(recorded.samples.size(), 3);
  EXPECT_EQ(recorded.samples[2].info.time_ns, 2);
}

TEST_F(PerfDataEventsTest, NotesControlGroups) {
  constexpr std::uint64_t kType = sample::kIp | sample::kTid | sample::kTime | sample::kCgroup;
  TestFile file(TestEvent{.sample_type = kType});
  const std::string trailer = Body().u32(7).u32(7).u64(0).get();
  file.add(record(RecordType::kCgroup, 0, Body().u64(77).text("/system.slice").bytes(trailer)))
      .add(record(RecordType::kComm, kUser, Body().u32(7).u32(7).text("ssh").bytes(trailer)))
      .add(record(RecordType::kSample, kUser, Body().u64(0x1000).u32(7).u32(7).u64(10).u64(77)));
  read(file);
  ASSERT_EQ(recorded.thread_names.size(), 1);
  EXPECT_EQ(recorded.thread_names[0].name, "ssh");
  EXPECT_EQ(recorded.thread_names[0].cgroup, "/system.slice");
}

TEST_F(PerfDataEventsTest, NamesEventsOfPipesByUpdates) {
  TestFile file(TestEvent{.ids = {5}});
  constexpr std::uint64_t kName = 2;
  file.add(record(RecordType::kEventUpdate, 0, Body().u64(kName).u64(5).text("mine")))
      .sample(kUser, 0x1000, 7, 20);
  ASSERT_TRUE(import(import_perf_data, {file.pipe()}));
  EXPECT_EQ(recorded.sources[0].name, "mine");
}

}  // namespace
}  // namespace ringside::importers::perf_data
