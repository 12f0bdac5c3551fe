#include "importers/speedscope/speedscope.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "importers/importers_test_util.h"

namespace ringside::importers {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kFrames =
    R"("shared":{"frames":[{"name":"main"},{"name":"work","file":"work.c","line":12},)"
    R"({"name":"copy","file":"/lib/libc.so.6"},{"name":"_ZN3foo3barEv"}]})";

// A file as speedscope begins it, with those profiles.
std::string file_with(const std::string& profiles) {
  return R"({"exporter":"speedscope@1.25.0","name":"x","activeProfileIndex":0,)"
         R"("$schema":"https://www.speedscope.app/file-format-schema.json",)" +
         std::string(kFrames) + R"(,"profiles":[)" + profiles + "]}";
}

std::string sampled(const std::string& name, const std::string& unit, const std::string& samples,
                    const std::string& weights, double start = 0) {
  return fmt::format(R"({{"type":"sampled","name":"{}","unit":"{}","startValue":{},"endValue":9,)"
                     R"("samples":{},"weights":{}}})",
                     name, unit, start, samples, weights);
}

std::string evented(const std::string& unit, const std::string& events, double end = 9) {
  return fmt::format(
      R"({{"type":"evented","name":"e","unit":"{}","startValue":0,"endValue":{},"events":[{}]}})",
      unit, end, events);
}

class Speedscope : public ImportTest {
 protected:
  Result<Imported> read(const std::string& text) { return import(&import_speedscope, {text}); }
  std::string error(const std::string& text) {
    const auto result = read(text);
    return result ? "" : result.error().message;
  }
  [[nodiscard]] std::vector<std::int64_t> weights() const {
    std::vector<std::int64_t> all;
    for (const auto& sample : recorded.samples)
      all.push_back(static_cast<std::int64_t>(sample.info.weight));
    return all;
  }
  [[nodiscard]] std::vector<std::uint64_t> times() const {
    std::vector<std::uint64_t> all;
    for (const auto& sample : recorded.samples) all.push_back(sample.info.time_ns);
    return all;
  }
};

TEST_F(Speedscope, WeightsOfTimeAreValuesAndMakeTheTimes) {
  const auto imported =
      read(file_with(sampled("t", "milliseconds", "[[0,1],[0],[0,1,2]]", "[1,0.5,2]", 5)));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 3u);
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_THAT(weights(), ElementsAre(1'000'000, 500'000, 2'000'000));
  EXPECT_THAT(times(), ElementsAre(0u, 1'000'000u, 1'500'000u));
  EXPECT_EQ(recorded.header.start_monotonic_ns, 5'000'000u);
  EXPECT_THAT(recorded.samples[2].frames, ElementsAre("[libc.so.6] copy", "work", "main"));
  ASSERT_EQ(recorded.sources.size(), 1u);
  EXPECT_EQ(recorded.sources[0].name, "time");
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kOther);
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kNanoseconds);
  EXPECT_EQ(recorded.statistics_of[1].due, 3u);
  EXPECT_EQ(recorded.statistics_of[1].duration_ns, 3'500'000u);
  EXPECT_FALSE(recorded.samples[0].info.pid);
}

TEST_F(Speedscope, FramesHaveTheirPlaceAndMangledNames) {
  ASSERT_TRUE(read(file_with(sampled("t", "none", "[[0,1,3]]", "[1]"))));
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("_ZN3foo3barEv", "work", "main"));
  const auto work = std::find_if(recorded.frames.begin(), recorded.frames.end(),
                                 [&](const recording::RecordedFrame& frame) {
                                   return recorded.texts[frame.function] == "work";
                                 });
  ASSERT_NE(work, recorded.frames.end());
  EXPECT_EQ(recorded.texts[work->file], "work.c");
  EXPECT_EQ(work->line, 12u);
  EXPECT_EQ(work->kind, FrameKind::kCode);
}

TEST_F(Speedscope, FilesOfPerfAreImages) {
  std::string text = file_with(sampled("t", "none", "[[0,1,2]]", "[1]"));
  const std::string frames =
      R"("frames":[{"name":"main","file":"/usr/bin/dd"},{"name":"a","file":"inlined"},)"
      R"({"name":"b","file":"[unknown]"},)";
  text.replace(text.find("\"frames\":["), std::string(kFrames).find("{\"name\":\"_ZN") - 10,
               frames);
  ASSERT_TRUE(read(text));
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("b", "a (inlined)", "[dd] main"));
}

TEST_F(Speedscope, SamplesWithoutTimeAreNumbered) {
  ASSERT_TRUE(read(file_with(sampled("t", "none", "[[0],[1],[]]", "[7,8,9]"))));
  EXPECT_THAT(weights(), ElementsAre(7, 8, 9));
  EXPECT_THAT(times(), ElementsAre(0u, 1u, 2u));
  EXPECT_THAT(recorded.samples[2].frames, IsEmpty());
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kSamples);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.sources[0].clock, recorded.clocks[0].id);
}

TEST_F(Speedscope, FractionsAreCarriedToTheNextWeight) {
  ASSERT_TRUE(read(file_with(sampled("t", "none", "[[0],[0],[0],[0]]", "[0.4,0.4,0.4,0.8]"))));
  EXPECT_THAT(weights(), ElementsAre(0, 1, 0, 1));
}

TEST_F(Speedscope, WhatRanBetweenTwoEventsIsASample) {
  ASSERT_TRUE(read(file_with(evented(
      "microseconds",
      R"({"type":"O","frame":0,"at":1},{"at":1,"frame":1,"type":"O"},{"type":"C","frame":1,"at":3},)"
      R"({"type":"O","frame":1,"at":4},{"type":"C","frame":1,"at":5},{"type":"C","frame":0,"at":5},)"
      R"({"type":"O","frame":2,"at":8},{"type":"C","frame":2,"at":9})"))));
  EXPECT_THAT(weights(), ElementsAre(2000, 1000, 1000, 1000));
  EXPECT_THAT(times(), ElementsAre(0u, 2000u, 3000u, 7000u));
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("work", "main"));
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("main"));
  EXPECT_THAT(recorded.samples[3].frames, ElementsAre("[libc.so.6] copy"));
}

TEST_F(Speedscope, SeveralProfilesAreThreadsInOrderOfTime) {
  ASSERT_TRUE(read(file_with(sampled("one", "seconds", "[[0],[0]]", "[0.3,0.1]", 1) + "," +
                             sampled("two", "milliseconds", "[[1],[1]]", "[200,200]", 1000) + "," +
                             sampled("", "bytes", "[[1]]", "[-64]"))));
  EXPECT_THAT(times(), ElementsAre(0u, 0u, 200'000'000u, 300'000'000u, 0u));
  EXPECT_THAT(weights(), ElementsAre(300'000'000, 200'000'000, 200'000'000, 100'000'000, -64));
  std::vector<std::string> names;
  for (const recording::ThreadName& name : recorded.thread_names) names.push_back(name.name);
  EXPECT_THAT(names, ElementsAre("one", "two", "profile 3"));
  EXPECT_EQ(recorded.samples[1].info.pid, 2u);
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[1].kind, recording::SourceKind::kAllocations);
}

TEST_F(Speedscope, TheActiveProfileHasTheFirstSource) {
  std::string text = file_with(sampled("one", "bytes", "[[0]]", "[1]") + "," +
                               sampled("two", "none", "[[0]]", "[1]"));
  text.replace(text.find("Index\":0") + 7, 1, "1");
  ASSERT_TRUE(read(text));
  EXPECT_EQ(recorded.sources[0].name, "samples");
  EXPECT_EQ(recorded.sources[1].name, "memory");
}

// As src/exporters/samples/speedscope.cpp writes it: sums of all samples, then threads.
constexpr const char* kOfRingside =
    R"({"$schema":"https://www.speedscope.app/file-format-schema.json","profiles":[)"
    R"({"type":"sampled","name":"all, cpu_time","unit":"nanoseconds","startValue":0,"endValue":5,)"
    R"("samples":[[0],[1]],"weights":[3,2]},)"
    R"({"type":"sampled","name":"all, alloc_bytes","unit":"bytes","startValue":0,"endValue":64,)"
    R"("samples":[[1]],"weights":[64]},)"
    R"({"type":"sampled","name":"dd x 12/13","unit":"nanoseconds","startValue":0,"endValue":3,)"
    R"("samples":[[0],[1]],"weights":[1,2]},)"
    R"({"type":"sampled","name":"vcpu 3","unit":"nanoseconds","startValue":0,"endValue":2,)"
    R"("samples":[[0]],"weights":[2]}],"shared":{"frames":[{"name":"f"},{"name":"g"}]},)"
    R"("name":"6.1.0","activeProfileIndex":0,"exporter":"ringside 1.0"})";

TEST_F(Speedscope, RingsidesOwnFilesAreNotCountedTwice) {
  ASSERT_TRUE(read(kOfRingside));
  ASSERT_EQ(recorded.sources.size(), 2u);
  EXPECT_EQ(recorded.sources[0].name, "cpu_time");
  EXPECT_EQ(recorded.sources[1].name, "alloc_bytes");
  EXPECT_EQ(recorded.header.kernel, "6.1.0");
  ASSERT_EQ(recorded.samples.size(), 4u);
  std::uint64_t time = 0;
  for (const auto& sample : recorded.samples)
    if (sample.info.source == 1) time += sample.info.weight;
  EXPECT_EQ(time, 5u);
  ASSERT_EQ(recorded.thread_names.size(), 1u);
  EXPECT_EQ(recorded.thread_names[0].name, "dd x");
  EXPECT_EQ(recorded.thread_names[0].pid, 12u);
  EXPECT_EQ(recorded.thread_names[0].tid, 13u);
  EXPECT_TRUE(std::any_of(recorded.samples.begin(), recorded.samples.end(),
                          [](const auto& sample) { return sample.info.vcpu == VcpuId{3}; }));
}

TEST_F(Speedscope, ThreadsThatAreNotAllOfRingsidesSamplesAreLeftOut) {
  std::string text = kOfRingside;
  text.replace(text.find("\"weights\":[3,2]"), 15, "\"weights\":[3,4]");
  const auto imported = read(text);
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("those of all have more")));
  EXPECT_EQ(imported->records, 3u);
}

TEST_F(Speedscope, AProfileOfAllThatIsNoSumIsCounted) {
  ASSERT_TRUE(read(file_with(sampled("all, of it", "none", "[[0]]", "[3]") + "," +
                             sampled("b", "none", "[[0]]", "[2]"))));
  EXPECT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.sources.size(), 1u);
}

TEST_F(Speedscope, FaultsAreCountedAndTheRestIsRead) {
  const auto imported = read(file_with(
      sampled("t", "seconds", R"([[0],[0,"x"],3,[9],[0],[0],[1]])", "[1,1,1,1,-1,1e300,1]") + "," +
      R"({"type":"sampled","unit":"furlongs","samples":[[0]],"weights":[1]},7,)" +
      evented("none", R"({"type":"C","frame":0,"at":1},{"type":"Z","frame":0,"at":1},5,)"
                      R"({"type":"O","frame":0,"at":2},{"type":"O","frame":1,"at":1},)"
                      R"({"type":"C","frame":0,"at":4})")));
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(weights(), ElementsAre(1'000'000'000, 2));
  ASSERT_EQ(imported->warnings.size(), 2u);
  EXPECT_THAT(imported->warnings[0],
              HasSubstr("one of the profiles is left out, at profile 2: its unit \"furlongs\""));
  EXPECT_THAT(imported->warnings[1], HasSubstr("entries are left out; the first is at offset"));
  EXPECT_THAT(imported->warnings[1], HasSubstr("a frame of a sample is the number of a shared"));
}

TEST_F(Speedscope, CallsThatAreStillOpenCountUntilTheEnd) {
  const auto imported = read(file_with(evented("none", R"({"type":"O","frame":0,"at":2})", 6)));
  ASSERT_TRUE(imported);
  EXPECT_THAT(weights(), ElementsAre(4));
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("the profile ends inside of a call")));
}

TEST_F(Speedscope, DeepStacksKeepTheirInnerFrames) {
  std::string stack = "[0";
  for (int i = 0; i < 3000; ++i) stack += ",1";
  const auto imported = read(file_with(sampled("t", "none", "[" + stack + ",2]]", "[1]")));
  ASSERT_TRUE(imported);
  EXPECT_EQ(recorded.samples[0].frames.size(), 512u);
  EXPECT_EQ(recorded.samples[0].frames[0], "[libc.so.6] copy");
  EXPECT_THAT(imported->warnings, ElementsAre(HasSubstr("the outer frames of 1 stack are")));
}

TEST_F(Speedscope, OtherFilesAreRefusedInWords) {
  EXPECT_THAT(error(R"({"version":"0.0.1","profiles":[],"shared":{"frames":[]}})"),
              HasSubstr("no file of speedscope as it is since its version 1"));
  EXPECT_THAT(error(R"({"$schema":"https://example.org/x.json","profiles":[]})"),
              HasSubstr("\"$schema\" is not https://www.speedscope.app"));
  EXPECT_THAT(error(R"({"$schema":"https://www.speedscope.app/file-format-schema.json"})"),
              HasSubstr("no array \"profiles\""));
  EXPECT_THAT(error(file_with("")), HasSubstr("none of its 0 profiles has a sample"));
  EXPECT_THAT(error(file_with(sampled("a", "none", "[[77]]", "[1]"))),
              HasSubstr("a frame that is none of the shared ones"));
  EXPECT_THAT(error("{\"a\":tru}"), HasSubstr("input: offset 0x"));
}

TEST_F(Speedscope, KeepsWhatCameBeforeACut) {
  for (const std::string& text :
       {file_with(
            sampled("a", "seconds", "[[0,1],[0]]", "[1,2]") + "," +
            evented("none", R"({"type":"O","frame":0,"at":2},{"type":"C","frame":0,"at":4})")),
        std::string(kOfRingside)}) {
    std::uint64_t before = 0;
    for (std::size_t size = 0; size <= text.size(); ++size) {
      const auto imported = read(text.substr(0, size));
      const std::uint64_t records = imported ? imported->records : 0;
      EXPECT_GE(records, before) << size;
      before = records;
      if (imported && size < text.size()) {
        EXPECT_THAT(imported->warnings.back(), HasSubstr("the rest is left out, from offset"));
      }
    }
    EXPECT_GE(before, 3u);
  }
}

TEST_F(Speedscope, IsRecognizedByItsSchema) {
  const auto likeness = [](const std::string& text) {
    return speedscope_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness(file_with("")), Likeness::kCertain);
  const std::string late = R"({"shared":{"frames":[]},"pad":")" + std::string(200'000, 'x') +
                           R"(","$schema":"https://www.speedscope.app/file-format-schema.json"})";
  EXPECT_EQ(likeness(late), Likeness::kCertain);
  EXPECT_EQ(likeness("{}"), Likeness::kNone);
  EXPECT_EQ(likeness(""), Likeness::kNone);
  EXPECT_EQ(likeness("https://www.speedscope.app/file-format-schema.json"), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
