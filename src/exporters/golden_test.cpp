#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "base/testing/one_processor.h"
#include "exporters/exporters_test_util.h"
#include "exporters/flamegraph/svg_flamegraph.h"
#include "exporters/folded.h"
#include "exporters/report/data_report.h"
#include "exporters/report/text_report.h"
#include "profile/profile_test_util.h"

// Outputs against files in testdata/, named by format and flags. RINGSIDE_UPDATE_GOLDEN=1 renews
// them.
namespace ringside::exporters {
namespace {

using profile::testing::TestRecording;
using testing::text_of;

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = std::string(RINGSIDE_TESTDATA) + "/" + name;
  if (std::getenv("RINGSIDE_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing: run with RINGSIDE_UPDATE_GOLDEN=1";
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, golden) << path;
}

// One of everything: kernel, interrupt, user, firmware and unknown code, recursion, an inlined
// function, names that are hard to print, idle, skipped and failed ticks, two vCPUs.
profile::Profile everything() {
  TestRecording recording;
  recording.add({"start_kernel|schedule|work<int&>::run(\"x\")", 40, 0})
      .add({"start_kernel|schedule|fib|fib|fib", 25, 1})
      .add({"entry|sys_write|vfs_write < copy|memcpy", 12, 0})
      .add({"start_kernel|irq:timer|irq:memcpy", 8, 1})
      .add({"start_kernel|a;b|größe\n", 5, 1})
      .add({"start_kernel|?ffffffff81000010", 2, 0})
      .add({"user:main|user:loop", 6, 1})
      .add({"[user]", 3, 1})
      .add({"[firmware]", 1, 0})
      .add({"", 1, 0});
  recording.add(wire::Disposition::kIdle, 30, 0).add(wire::Disposition::kSkipped, 4, 1);
  recording.add(wire::Disposition::kFailed, 2, 1);
  recording::Statistics statistics;
  statistics.due = 142;
  statistics.lost = 3;
  statistics.late = 5;
  statistics.counters = {{recording::kLostByHost, 2}, {recording::kLostLate, 1}};
  statistics.duration_ns = 1'500'000'000;
  statistics.symbol_ns = 1'234'567;
  EXPECT_TRUE(recording.writer().add_statistics(statistics));
  EXPECT_TRUE(recording.writer().add_warning("the kernel <moved> & came back"));
  return recording.profile();
}

std::string svg(const FlamegraphOptions& options) {
  const auto profile = everything();
  const std::string text =
      text_of([&](Sink& sink) { return write_flamegraph(profile, options, sink); });
  // Style and script are files of their own.
  std::string bare;
  std::size_t at = 0;
  for (std::size_t start; (start = text.find("<![CDATA[", at)) != std::string::npos;) {
    bare += text.substr(at, start - at);
    at = text.find("]]>", start) + 3;
  }
  return bare + text.substr(at);
}

std::string folded(const FoldedOptions& options) {
  const auto profile = everything();
  return text_of([&](Sink& sink) { return write_folded(profile, options, sink); });
}

std::string report(const ReportOptions& options) {
  const auto profile = everything();
  return text_of([&](Sink& sink) { return write_report(profile, options, sink); });
}

TEST(Golden, Folded) {
  expect_golden("folded.txt", folded({}));
  expect_golden("folded--per-vcpu--show-idle.txt", folded({true, true}));
}

TEST(Golden, Report) {
  expect_golden("report.txt", report({}));
  ReportOptions options;
  options.overhead.sort = views::OverheadOptions::Sort::kTotal;
  options.overhead.per_vcpu = false;
  options.columns = {ReportColumn::kChildren, ReportColumn::kSelf, ReportColumn::kSymbol};
  options.call_graph = true;
  options.trees.minimum_share = 0.005;
  options.maximum_rows = 5;
  expect_golden("report--children-g--rows=5.txt", report(options));
}

TEST(Golden, ReportOnOneProcessor) {
  const ringside::testing::OneProcessor one;
  expect_golden("report.txt", report({}));
}

// Three processes, of which two have one name, a thread with a name of its own, system calls,
// interrupts, and time that is nobody's.
TestRecording processes() {
  TestRecording recording;
  recording.name(1, 1, "sh").name(20, 20, "dd").name(21, 21, "dd").name(21, 22, "dd:io");
  recording.add({"user:main|user:write || sys_write|copy", 30, 0, 20, 20})
      .add({"user:main|user:write || sys_write|irq:timer", 5, 1, 21, 21})
      .add({"user:main|user:loop", 20, 1, 21, 21})
      .add({"user:start|user:loop", 10, 1, 21, 22})
      .add({"[user]", 3, 0, 1, 1, 7})
      .add({"user:main|user:loop || fault|?ffffffff81000010", 2, 0, 30, 30})
      .add({"start_kernel|schedule", 4, 0})
      .add(wire::Disposition::kIdle, 6, 0);
  return recording;
}

TEST(Golden, Processes) {
  TestRecording recording = processes();
  const auto profile = recording.profile();
  const auto folded = [&](const FoldedOptions& options) {
    return text_of([&](Sink& sink) { return write_folded(profile, options, sink); });
  };
  const auto report = [&](const ReportOptions& options) {
    return text_of([&](Sink& sink) { return write_report(profile, options, sink); });
  };
  FoldedOptions stacks;
  expect_golden("folded--processes.txt", folded(stacks));
  stacks.by = views::RootFrame::kTid;
  stacks.annotate_kernel = true;
  expect_golden("folded--processes--by=tid--annotate-kernel.txt", folded(stacks));
  stacks.annotate_kernel = false;
  stacks.by = views::RootFrame::kNone;
  stacks.per_vcpu = true;
  stacks.show_idle = true;
  expect_golden("folded--processes--by=none--per-vcpu--show-idle.txt", folded(stacks));
  stacks.by = views::RootFrame::kModule;
  expect_golden("folded--processes--by=module--per-vcpu--show-idle.txt", folded(stacks));
  FlamegraphOptions picture;
  picture.by = views::RootFrame::kModule;
  picture.colors = FrameColoring::kModule;
  picture.theme = Theme::kDark;
  expect_golden("flamegraph--processes--by=module--colors=module--theme=dark.svg.txt",
                text_of([&](Sink& sink) { return write_flamegraph(profile, picture, sink); }));

  using views::SortKey;
  ReportOptions options;
  options.overhead.keys = {SortKey::kComm, SortKey::kDso, SortKey::kSymbol};
  options.columns = {ReportColumn::kOverhead, ReportColumn::kChildren, ReportColumn::kSamples,
                     ReportColumn::kComm,     ReportColumn::kDso,      ReportColumn::kSymbol};
  options.call_graph = true;
  options.trees.callees = false;
  expect_golden("report--processes-g.txt", report(options));
  options.call_graph = false;
  options.overhead.per_vcpu = false;
  options.overhead.keys = {SortKey::kPid, SortKey::kTask, SortKey::kVcpu};
  options.columns = {ReportColumn::kPid, ReportColumn::kTask, ReportColumn::kVcpu,
                     ReportColumn::kOverhead};
  options.maximum_rows = 3;
  expect_golden("report--processes-F=tgid,pid,vcpu,overhead--rows=3.txt", report(options));
  options.maximum_rows = 0;
  options.overhead.keys = {SortKey::kPid, SortKey::kTid};
  options.columns = {ReportColumn::kPid, ReportColumn::kTid, ReportColumn::kSamples};
  expect_golden("report--processes-F=pid,tid,sample--format=csv.txt",
                text_of([&](Sink& sink) { return write_csv_report(profile, options, sink); }));
  expect_golden("report--processes-F=pid,tid,sample--format=json.txt",
                text_of([&](Sink& sink) { return write_json_report(profile, options, sink); }));
  options.overhead.keys = {SortKey::kComm, SortKey::kParent};
  options.columns = {ReportColumn::kOverhead, ReportColumn::kComm, ReportColumn::kParent};
  for (const profile::Function& function : profile.functions)
    options.overhead.is_parent.push_back(profile.strings[function.name].starts_with("sys_"));
  expect_golden("report--processes-F=overhead,comm,parent.txt", report(options));
  expect_golden("top-stacks--processes--4.txt",
                text_of([&](Sink& sink) { return write_top_stacks(profile, 4, sink); }));
  expect_golden("summary--processes.txt",
                text_of([&](Sink& sink) { return write_summary(profile, sink); }));
}

TEST(Golden, HeaderSummaryAndTopStacks) {
  const auto profile = everything();
  expect_golden("header.txt", text_of([&](Sink& sink) { return write_header(profile, sink); }));
  expect_golden("summary.txt", text_of([&](Sink& sink) { return write_summary(profile, sink); }));
  expect_golden("top-stacks--3.txt",
                text_of([&](Sink& sink) { return write_top_stacks(profile, 3, sink); }));
}

TEST(Golden, SummaryOfACutRecording) {
  TestRecording recording;
  recording.add({"a", 3});
  const auto profile = recording.profile();
  expect_golden("summary--cut.txt",
                text_of([&](Sink& sink) { return write_summary(profile, sink); }));
}

TEST(Golden, Flamegraph) {
  FlamegraphOptions options;
  expect_golden("flamegraph.svg.txt", svg(options));
  options.title = "A <title> & more";
  options.subtitle = "below";
  options.icicle = true;
  options.reverse = true;
  options.width = 800;
  options.minimum_width = 20;
  expect_golden("flamegraph--icicle--reverse--width=800--minimum-width=20.svg.txt", svg(options));
  options = {};
  options.per_vcpu = true;
  options.show_idle = true;
  expect_golden("flamegraph--per-vcpu--show-idle.svg.txt", svg(options));
}

TEST(Golden, Empty) {
  TestRecording recording;
  const auto profile = recording.profile();
  EXPECT_EQ(text_of([&](Sink& sink) { return write_folded(profile, {}, sink); }), "");
  EXPECT_EQ(text_of([&](Sink& sink) { return write_top_stacks(profile, 10, sink); }),
            "No samples.\n");
  expect_golden("report--empty.txt",
                text_of([&](Sink& sink) { return write_report(profile, {}, sink); }));
}

}  // namespace
}  // namespace ringside::exporters
