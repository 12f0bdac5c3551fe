#include "cli/verbs/report_fields.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"

namespace ringside::cli {
namespace {

using exporters::ReportColumn;
using views::SortKey;

using Columns = std::vector<ReportColumn>;
using Keys = std::vector<SortKey>;

profile::Profile with_callers(bool has_callers, bool knows_processes) {
  profile::testing::TestRecording recording;
  recording.name(1, 1, "sh");
  profile::testing::Line line{has_callers ? "start|work" : "work", 1};
  if (knows_processes) line.pid = line.tid = 1;
  recording.add(line);
  return recording.profile();
}

exporters::ReportOptions chosen(const ColumnChoice& choice, const profile::Profile& profile) {
  exporters::ReportOptions options;
  const auto result = choose_columns(choice, profile, options);
  EXPECT_TRUE(result) << (result ? "" : result.error().message);
  return options;
}

TEST(ReportFields, WithStacksTheTimeWithCalleesComesFirst) {
  const auto options = chosen({}, with_callers(true, true));
  EXPECT_EQ(options.columns,
            (Columns{ReportColumn::kChildren, ReportColumn::kSelf, ReportColumn::kComm,
                     ReportColumn::kDso, ReportColumn::kSymbol}));
  EXPECT_EQ(options.overhead.keys, (Keys{SortKey::kComm, SortKey::kDso, SortKey::kSymbol}));
  EXPECT_EQ(options.overhead.sort, views::OverheadOptions::Sort::kTotal);
  EXPECT_TRUE(options.trees.with_callees);
}

TEST(ReportFields, WithoutStacksThereIsOneShare) {
  const Columns one{ReportColumn::kOverhead, ReportColumn::kDso, ReportColumn::kSymbol};
  const auto options = chosen({}, with_callers(false, false));
  EXPECT_EQ(options.columns, one);
  EXPECT_FALSE(options.trees.with_callees);
  EXPECT_EQ(options.overhead.sort, views::OverheadOptions::Sort::kSelf);
  ColumnChoice choice;
  choice.no_children = true;
  EXPECT_EQ(chosen(choice, with_callers(true, false)).columns, one);
}

TEST(ReportFields, SortAndFieldsAsPerfTakesThem) {
  const auto profile = with_callers(true, true);
  ColumnChoice choice;
  choice.sort = {"pid", "cpu"};
  choice.samples = true;
  auto options = chosen(choice, profile);
  EXPECT_EQ(options.overhead.keys, (Keys{SortKey::kTask, SortKey::kVcpu}));
  EXPECT_EQ(options.columns,
            (Columns{ReportColumn::kChildren, ReportColumn::kSelf, ReportColumn::kSamples,
                     ReportColumn::kTask, ReportColumn::kVcpu}));

  // Keys that are not among the fields stand behind them.
  choice.sort = {"sym", "comm"};
  choice.fields = {"overhead", "comm", "parent"};
  options = chosen(choice, profile);
  EXPECT_EQ(options.columns, (Columns{ReportColumn::kOverhead, ReportColumn::kComm,
                                      ReportColumn::kParent, ReportColumn::kSymbol}));
  EXPECT_EQ(options.overhead.keys, (Keys{SortKey::kComm, SortKey::kParent, SortKey::kSymbol}));
  EXPECT_EQ(options.overhead.sort, views::OverheadOptions::Sort::kSelf);

  choice.fields = {"overhead_children", "overhead", "sym"};
  options = chosen(choice, profile);
  EXPECT_EQ(options.overhead.sort, views::OverheadOptions::Sort::kTotal);
  EXPECT_TRUE(options.trees.with_callees);
}

TEST(ReportFields, ATableForProgramsIsTheSameWhateverThereIs) {
  exporters::ReportOptions options;
  ASSERT_TRUE(choose_data_columns({}, with_callers(false, true), options));
  EXPECT_EQ(options.columns,
            (Columns{ReportColumn::kOverhead, ReportColumn::kChildren, ReportColumn::kSamples,
                     ReportColumn::kComm, ReportColumn::kDso, ReportColumn::kSymbol}));
  EXPECT_EQ(options.overhead.sort, views::OverheadOptions::Sort::kSelf);
}

TEST(ReportFields, PidIsTheThreadAsInPerfButForPrograms) {
  const auto profile = with_callers(true, true);
  ColumnChoice choice;
  choice.fields = {"pid", "tid", "tgid"};
  EXPECT_EQ(chosen(choice, profile).columns,
            (Columns{ReportColumn::kTask, ReportColumn::kTid, ReportColumn::kPid}));
  exporters::ReportOptions options;
  ASSERT_TRUE(choose_data_columns(choice, profile, options));
  EXPECT_EQ(options.columns, (Columns{ReportColumn::kPid, ReportColumn::kTid}));
  EXPECT_EQ(options.overhead.keys, (Keys{SortKey::kPid, SortKey::kTid}));
}

TEST(ReportFields, WhatIsNotKnownIsWrongUsage) {
  const auto profile = with_callers(true, true);
  exporters::ReportOptions options;
  ColumnChoice choice;
  for (const char* const name : {"weight", "srcfile", "guest"}) {
    choice.sort = {name};
    EXPECT_EQ(choose_columns(choice, profile, options).error().code, ErrorCode::kUsage) << name;
  }
  EXPECT_EQ(find_parents({}, "(").error().code, ErrorCode::kUsage);
}

TEST(ReportFields, SpansOfTimeHaveALength) {
  ColumnChoice choice;
  EXPECT_EQ(choice.span_ns().value(), 0U);
  choice.fields = {"overhead", "time"};
  EXPECT_EQ(choice.span_ns().value(), 100'000'000U);
  choice.time_quantum = "20us";
  EXPECT_EQ(choice.span_ns().value(), 20'000U);
  for (const char* const text : {"20", "0s", "soon", "1e30s"}) {
    choice.time_quantum = text;
    EXPECT_EQ(choice.span_ns().error().code, ErrorCode::kUsage) << text;
    ColumnChoice without;
    without.time_quantum = text;
    EXPECT_EQ(without.span_ns().error().code, ErrorCode::kUsage) << text;
  }
}

TEST(ReportFields, ParentsAreFoundByAPattern) {
  profile::Profile profile;
  for (const char* name : {"sys_read", "ksys_read", "do_page_fault_x"})
    profile.functions.push_back({profile.strings.intern(name), 0});
  EXPECT_EQ(find_parents(profile, kDefaultParent).value(), (std::vector{true, false, true}));
}

}  // namespace
}  // namespace ringside::cli
