#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/command_words.h"
#include "cli/cpu_list.h"
#include "cli/guest_system.h"
#include "cli/load_bias.h"
#include "cli/options.h"
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
  using enum OutputFormat;
  const auto format = [](const std::string& path, const std::string& asked = "") {
    return format_of(path, kSvg, asked, {kSvg, kFolded});
  };
  EXPECT_EQ(format("a/b.svg").value(), kSvg);
  EXPECT_EQ(format("b.folded").value(), kFolded);
  EXPECT_EQ(format("b.txt").value(), kFolded);
  EXPECT_EQ(format("a.b/c").value(), kSvg);
  for (const char* foreign : {"b.png", "b.html", "b.jsonl"})
    EXPECT_EQ(format(foreign).error().code, ErrorCode::kUsage) << foreign;
  EXPECT_EQ(format("b.folded", "--format svg").error().code, ErrorCode::kUsage);
  EXPECT_EQ(format("b.png", "--format svg").value(), kSvg);
}

class CommandWords : public testing::Test {
 protected:
  using Words = std::vector<std::string>;

  CommandWords() : verb_("", "record") {
    verb_.add_option("-F,--freq", frequency_, "");
    verb_.add_option("--qmp", text_, "")->expected(0, 1);
    verb_.add_option("-o,--output", text_, "");
    verb_.add_flag("-k,--kernel-only", flag_, "");
    verb_.add_flag("-g", flag_, "");
  }
  // The command, behind what is left of the words.
  std::pair<Words, std::optional<Words>> take(Words words, bool takes_command = true) {
    words.insert(words.begin(), "record");
    auto command = take_command(words, verb_, takes_command);
    words.erase(words.begin());
    return {words, command};
  }

  App verb_;
  double frequency_ = 0;
  std::string text_;
  bool flag_ = false;
};

TEST_F(CommandWords, BeginBehindTheOptions) {
  const Words qemu{"qemu-system-x86_64", "-kernel", "k", "-k"};
  for (const Words& options : {Words{}, Words{"-k"}, Words{"-F", "99"}, Words{"-F99"},
                               Words{"-kF", "99"}, Words{"-kgF99"}, Words{"--freq=99", "-o", "x"},
                               Words{"--qmp=a"}, Words{"--qmp", "a"}, Words{"--freq", "-1"}})
    for (const bool has_dashes : {false, true}) {
      Words words = options;
      if (has_dashes) words.push_back("--");
      words.insert(words.end(), qemu.begin(), qemu.end());
      EXPECT_EQ(take(words), std::pair(options, std::optional(qemu))) << fmt::format("{}", words);
    }
}

TEST_F(CommandWords, MayBeNone) {
  EXPECT_EQ(take({"-k", "--qmp"}).second, std::nullopt);
  EXPECT_EQ(take({"--qmp", "-k"}).second, std::nullopt);
  EXPECT_EQ(take({"-F"}).second, std::nullopt);
  EXPECT_EQ(take({"-k", "--"}).second, Words{});
  EXPECT_EQ(take({"file", "-k"}, false), std::pair(Words({"file", "-k"}), std::optional<Words>()));
  EXPECT_EQ(take({"file", "--", "x"}, false),
            std::pair(Words({"file"}), std::optional(Words{"x"})));
}

}  // namespace
}  // namespace ringside::cli
