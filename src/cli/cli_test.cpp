#include <gtest/gtest.h>

#include <filesystem>

#include "cli/cpu_list.h"
#include "cli/guest_system.h"
#include "cli/load_bias.h"
#include "cli/outputs.h"
#include "cli/report_fields.h"
#include "cli/sampling_flags.h"

namespace ringside::cli {
namespace {

std::vector<unsigned> cpus(const std::string& text) {
  std::vector<unsigned> result;
  const auto list = parse_cpu_list(text);
  if (!list) return {9999};
  for (const VcpuId id : *list) result.push_back(id.value);
  return result;
}

TEST(CpuList, TakesPerfsForm) {
  EXPECT_EQ(cpus("0"), (std::vector<unsigned>{0}));
  EXPECT_EQ(cpus("0,2-4"), (std::vector<unsigned>{0, 2, 3, 4}));
  for (const char* wrong : {"", "a", "1-", "3-1", "1,", "-1", "1 2", "99999"})
    EXPECT_EQ(cpus(wrong), (std::vector<unsigned>{9999})) << wrong;
}

TEST(SamplingFlags, FrequencyAndIntervalMeanTheSame) {
  SamplingFlags flags;
  EXPECT_EQ(flags.options()->interval_ns, 10'000'000u);
  flags.frequency = 1000;
  EXPECT_EQ(flags.options()->interval_ns, 1'000'000u);
  flags.frequency.reset();
  flags.interval_ms = 0.2;
  EXPECT_EQ(flags.options()->interval_ns, 200'000u);
}

// This program stands for one of the guest's.
std::string this_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

TEST(GuestSystem, AProcessHasARootANameAndAProgram) {
  GuestSystemFlags flags;
  flags.processes = {"7d3000=init:" + this_program(), "0x1000=a.out:" + this_program()};
  const auto options = flags.options();
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->processes.size(), 2u);
  EXPECT_EQ(options->processes[0].root, 0x7d3000u);
  EXPECT_EQ(options->processes[0].program->name, "init");
  EXPECT_EQ(options->processes[0].program->file->name(), this_program());
  EXPECT_EQ(options->processes[1].root, 0x1000u);
}

TEST(GuestSystem, WhatMakesNoSenseIsTold) {
  const auto wrong = [](const std::string& process) {
    GuestSystemFlags flags;
    flags.processes = {process};
    return flags.options().error().code;
  };
  for (const char* text :
       {"", "1000", "1000=init", "=init:x", "xyz=init:x", "1000 =init:x", "1000=:x"})
    EXPECT_EQ(wrong(text), ErrorCode::kUsage) << text;
  EXPECT_EQ(wrong("1000=init:/does/not/exist"), ErrorCode::kNotFound);
  GuestSystemFlags flags;
  flags.user_elf = this_program();
  EXPECT_TRUE(flags.options());
  flags.os = "linux";
  EXPECT_EQ(flags.options().error().code, ErrorCode::kUsage);
  flags.os = "auto";
  flags.programs = "/usr/bin";
  EXPECT_EQ(flags.options().error().code, ErrorCode::kUsage);
}

TEST(SamplingFlags, LoadBiasIsHexadecimalAndMayBeNegative) {
  SamplingFlags flags;
  const auto value = [&] { return parse_load_bias(flags.load_bias).value(); };
  EXPECT_EQ(value(), std::nullopt);  // to be found out
  flags.load_bias = "0x2d200000";
  EXPECT_EQ(value(), 0x2d200000u);
  flags.load_bias = "-1000";
  EXPECT_EQ(value(), 0 - std::uint64_t{0x1000});
  flags.load_bias = "0xzz";
  EXPECT_EQ(parse_load_bias(flags.load_bias).error().code, ErrorCode::kUsage);
}

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

TEST(Outputs, KnowTheirExtensions) {
  EXPECT_TRUE(check_extension("a/b.svg"));
  EXPECT_TRUE(check_extension("b.folded"));
  EXPECT_FALSE(check_extension("b.txt"));
}

}  // namespace
}  // namespace ringside::cli
