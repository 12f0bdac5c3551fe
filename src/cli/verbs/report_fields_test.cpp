#include "cli/verbs/report_fields.h"

#include <gtest/gtest.h>

namespace ringside::cli {
namespace {

using exporters::ReportColumn;
using views::SortKey;

TEST(ReportFields, SortAndFieldsAsPerfTakesThem) {
  exporters::ReportOptions options;
  const auto functions = options.columns;
  ASSERT_TRUE(choose_columns({}, {}, false, options));
  EXPECT_EQ(options.columns, functions);
  EXPECT_EQ(options.overhead.keys, std::vector{SortKey::kSymbol});

  ASSERT_TRUE(choose_columns({}, {}, true, options));
  EXPECT_EQ(options.overhead.keys, (std::vector{SortKey::kComm, SortKey::kDso, SortKey::kSymbol}));

  ASSERT_TRUE(choose_columns({"pid", "cpu"}, {}, true, options));
  EXPECT_EQ(options.overhead.keys, (std::vector{SortKey::kPid, SortKey::kVcpu}));
  EXPECT_EQ(options.columns,
            (std::vector{ReportColumn::kOverhead, ReportColumn::kChildren, ReportColumn::kSamples,
                         ReportColumn::kPid, ReportColumn::kVcpu}));

  // Keys that are not among the fields stand behind them.
  ASSERT_TRUE(choose_columns({"sym", "comm"}, {"overhead", "comm", "parent"}, false, options));
  EXPECT_EQ(options.columns, (std::vector{ReportColumn::kOverhead, ReportColumn::kComm,
                                          ReportColumn::kParent, ReportColumn::kSymbol}));
  EXPECT_EQ(options.overhead.keys,
            (std::vector{SortKey::kComm, SortKey::kParent, SortKey::kSymbol}));
}

TEST(ReportFields, WhatIsNotKnownIsWrongUsage) {
  exporters::ReportOptions options;
  EXPECT_EQ(choose_columns({"weight"}, {}, true, options).error().code, ErrorCode::kUsage);
  EXPECT_EQ(choose_columns({}, {"period"}, true, options).error().code, ErrorCode::kUsage);
  EXPECT_EQ(find_parents({}, "(").error().code, ErrorCode::kUsage);
}

TEST(ReportFields, ParentsAreFoundByAPattern) {
  profile::Profile profile;
  for (const char* name : {"sys_read", "ksys_read", "do_page_fault_x"})
    profile.functions.push_back({profile.strings.intern(name), 0});
  EXPECT_EQ(find_parents(profile, kDefaultParent).value(), (std::vector{true, false, true}));
}

}  // namespace
}  // namespace ringside::cli
