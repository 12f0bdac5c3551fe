#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "exporters/exporters_test_util.h"
#include "exporters/flamegraph/svg_flamegraph.h"
#include "exporters/folded.h"
#include "exporters/json_lines.h"
#include "exporters/report/text_report.h"
#include "profile/profile_test_util.h"

// One word means one count in every place that shows it (docs/counts.md).
namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using testing::text_of;

constexpr std::uint64_t kSampled = 3 * 1 + 2 * 4 + 1 * 2;
constexpr std::uint64_t kSamples = 3 + 2 + 1;

// 13 ticks in 6 samples, and some of everything else.
TestRecording weighted() {
  TestRecording recording;
  recording.add({.stack = "a|b", .count = 3, .vcpu = 0})
      .add({.stack = "a|c", .count = 2, .vcpu = 1, .weight = 4})
      .add({.stack = "", .count = 1, .vcpu = 1, .weight = 2});
  recording.add(wire::Disposition::kIdle, 2, 0, 10).add(wire::Disposition::kSkipped, 1, 1, 4);
  recording.add(wire::Disposition::kFailed, 1, 1, 3);
  recording::Statistics statistics;
  statistics.due = kSampled + 20 + 4 + 3 + 2;
  statistics.lost = 2;
  statistics.counters = {{recording::kLostLate, 2}, {recording::kStackBytesCounter, 600}};
  EXPECT_TRUE(recording.writer().add_statistics(statistics));
  return recording;
}

std::string report_of(const profile::Profile& profile) {
  ReportOptions options;
  options.overhead.per_vcpu = false;
  return text_of([&](Sink& sink) { return write_report(profile, options, sink); });
}

std::string picture_of(const profile::Profile& profile) {
  return text_of([&](Sink& sink) { return write_flamegraph(profile, {}, sink); });
}

// The sum of the column `index` of the table's rows.
std::uint64_t sum_of_column(const std::string& report, int index) {
  std::uint64_t sum = 0;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string word;
    for (int i = 0; i <= index; ++i) words >> word;
    sum += std::stoull(word);
  }
  return sum;
}

TEST(Counts, TextsAgree) {
  TestRecording recording = weighted();
  const auto profile = recording.profile();
  const auto rows = AllOf(
      ContainsRegex("vCPU ticks due +42\n"), ContainsRegex("sampled +13 +30\\.95%  in 6 samples\n"),
      ContainsRegex("idle +20 "), ContainsRegex("skipped +4 "), ContainsRegex("failed +3 "),
      ContainsRegex("lost +2 "), ContainsRegex("stacks complete +5 .* of 6\n"),
      ContainsRegex("stack bytes copied +100  a sample\n"));
  EXPECT_THAT(text_of([&](Sink& sink) { return write_summary(profile, sink); }), rows);
  EXPECT_THAT(text_of([&](Sink& sink) { return write_header(profile, sink); }), rows);
  const std::string report = report_of(profile);
  EXPECT_THAT(report, HasSubstr("# All vCPUs: 13 ticks sampled (6 samples), 20 idle (47.62% idle), "
                                "4 skipped, 3 failed\n"));
  EXPECT_EQ(sum_of_column(report, 2), kSamples);
  EXPECT_THAT(picture_of(profile), HasSubstr("13 ticks sampled (6 samples) · 47.62% idle"));
}

TEST(Counts, ExportsAgree) {
  TestRecording recording = weighted();
  const auto profile = recording.profile();
  std::uint64_t folded = 0;
  std::istringstream stacks(text_of([&](Sink& sink) { return write_folded(profile, {}, sink); }));
  for (std::string line; std::getline(stacks, line);)
    folded += std::stoull(line.substr(line.rfind(' ') + 1));
  EXPECT_EQ(folded, kSampled);

  auto reader = recording.reader();
  std::istringstream lines(text_of([&](Sink& sink) {
    EXPECT_TRUE(write_json_lines(reader, recording.namer(), sink));
    return Result<void>();
  }));
  std::uint64_t samples = 0;
  std::uint64_t sampled = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto object = nlohmann::json::parse(line);
    if (object.value("disposition", "") != "sampled") continue;
    ++samples;
    sampled += object["weight"].get<std::uint64_t>();
  }
  EXPECT_EQ(samples, kSamples);
  EXPECT_EQ(sampled, kSampled);
}

TEST(Counts, OneTickASampleIsOneNumber) {
  TestRecording recording;
  recording.add({"a", 3});
  const auto profile = recording.profile();
  EXPECT_THAT(report_of(profile),
              HasSubstr("# Samples: 3  of event 'cpu'\n# Event count (approx.): 3\n#\n"));
  EXPECT_THAT(picture_of(profile), ContainsRegex("3 ticks sampled[ <]"));
}

TEST(Counts, AFilterShowsAPart) {
  TestRecording recording = weighted();
  profile::BuildOptions options;
  options.filter.vcpus = {VcpuId{0}};
  const auto profile = recording.profile(options);
  EXPECT_THAT(report_of(profile),
              HasSubstr("# All vCPUs: 3 of 13 ticks sampled (3 of 6 samples), 20 idle, "
                        "0 of 4 skipped, 0 of 3 failed\n"));
  EXPECT_THAT(picture_of(profile), HasSubstr("3 of 13 ticks sampled (3 of 6 samples)"));
}

// By vCPU, too, where no tick was lost; else nobody knows whose the lost ones were.
TEST(Counts, TheIdleShareIsOfAllThatWasDue) {
  for (const std::uint64_t lost : {0, 60}) {
    TestRecording recording;
    recording.add({"a", 5}).add({.stack = "b", .count = 10, .vcpu = 1});
    recording.add(wire::Disposition::kIdle, 15, 0, 1).add(wire::Disposition::kIdle, 10, 1, 1);
    recording::Statistics statistics;
    statistics.due = 40 + lost;
    statistics.lost = lost;
    statistics.counters = {{recording::kLostLate, lost}};
    EXPECT_TRUE(recording.writer().add_statistics(statistics));
    const auto profile = recording.profile();
    const std::string share = lost == 0 ? "62.50% idle" : "25.00% idle";
    const std::string report =
        text_of([&](Sink& sink) { return write_report(profile, ReportOptions(), sink); });
    EXPECT_THAT(report, HasSubstr("# All vCPUs: 15 ticks sampled, 25 idle (" + share + ")\n"));
    EXPECT_THAT(report, HasSubstr(lost == 0 ? "# vCPU 0: 5 ticks sampled, 15 idle (75.00% idle)\n"
                                            : "# vCPU 0: 5 ticks sampled, 15 idle\n"));
    EXPECT_THAT(picture_of(profile), HasSubstr(" · " + share));
  }
}

}  // namespace
}  // namespace ringside::exporters
