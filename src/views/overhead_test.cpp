#include "views/overhead.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"

namespace ringside::views {
namespace {

using profile::testing::make_profile;
using profile::testing::TestRecording;

struct Row {
  std::string name;
  profile::Weight self;
  profile::Weight total;
  bool operator==(const Row&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Row& row) {
  return out << row.name << ' ' << row.self << ' ' << row.total;
}

std::vector<Row> rows_of(const profile::Profile& profile, const OverheadSection& section) {
  std::vector<Row> rows;
  for (const OverheadRow& row : section.rows)
    rows.push_back(
        {std::string(profile.strings[profile.functions[*row.function].name]), row.self, row.total});
  return rows;
}

TEST(Overhead, SelfAndTotal) {
  const auto profile = make_profile({{"start|a|leaf", 5}, {"start|a", 3}, {"start|b", 4}});
  const OverheadTable table = make_overhead(profile);
  EXPECT_EQ(rows_of(profile, table.all),
            (std::vector<Row>{{"leaf", 5, 5}, {"b", 4, 4}, {"a", 3, 8}, {"start", 0, 12}}));
  OverheadOptions options;
  options.sort = OverheadOptions::Sort::kTotal;
  EXPECT_EQ(rows_of(profile, make_overhead(profile, options).all),
            (std::vector<Row>{{"start", 0, 12}, {"a", 3, 8}, {"leaf", 5, 5}, {"b", 4, 4}}));
}

TEST(Overhead, InlinedCodeIsOfTheFunctionThatHoldsIt) {
  const auto profile =
      make_profile({{"start|a < spin", 5}, {"start|b < loop < spin", 3}, {"start|b", 1}});
  OverheadOptions options;
  options.inlined_rows = false;
  EXPECT_EQ(rows_of(profile, make_overhead(profile, options).all),
            (std::vector<Row>{{"a", 5, 5}, {"b", 4, 4}, {"start", 0, 9}}));
}

TEST(Overhead, RecursionCountsOnceASample) {
  const auto profile = make_profile({{"start|fib|fib|fib|fib", 5}, {"start|fib|add|fib", 2}});
  EXPECT_EQ(rows_of(profile, make_overhead(profile).all),
            (std::vector<Row>{{"fib", 7, 7}, {"start", 0, 7}, {"add", 0, 2}}));
}

TEST(Overhead, PerVcpuWithIdleApart) {
  TestRecording recording;
  recording.add({"a", 3, 0}).add({"a", 1, 2}).add({"b", 1, 2});
  recording.add(wire::Disposition::kIdle, 7, 1).add(wire::Disposition::kIdle, 2, 2);
  recording.add(wire::Disposition::kSkipped, 4, 2).add(wire::Disposition::kFailed, 1, 0);
  const auto profile = recording.profile();
  const OverheadTable table = make_overhead(profile);
  ASSERT_EQ(table.per_vcpu.size(), 3u);
  EXPECT_EQ(table.all.sampled, 5u);
  EXPECT_EQ(table.all.idle, 9u);
  EXPECT_EQ(rows_of(profile, table.per_vcpu[0]), (std::vector<Row>{{"a", 3, 3}}));
  EXPECT_EQ(table.per_vcpu[0].failed, 1u);
  EXPECT_TRUE(table.per_vcpu[1].rows.empty());
  EXPECT_EQ(table.per_vcpu[1].idle, 7u);
  EXPECT_EQ(rows_of(profile, table.per_vcpu[2]), (std::vector<Row>{{"a", 1, 1}, {"b", 1, 1}}));
  EXPECT_EQ(table.per_vcpu[2].skipped, 4u);
}

TEST(Overhead, SelfAddsUp) {
  const auto profile = make_profile({{"a|b", 3}, {"", 2}, {"[user]", 4}, {"?dead", 1}});
  const OverheadTable table = make_overhead(profile);
  std::uint64_t self = 0;
  for (const OverheadRow& row : table.all.rows) self += row.self;
  EXPECT_EQ(self, table.all.sampled);
  EXPECT_EQ(self, 10u);
}

TEST(Overhead, InlinedIsWhatWasInlinedEverywhere) {
  const auto profile = make_profile({{"start|a < always", 5}, {"start|b < here", 3}, {"here", 2}});
  std::map<std::string, bool> inlined;
  for (const OverheadRow& row : make_overhead(profile).all.rows)
    inlined.emplace(profile.strings[profile.functions[*row.function].name], row.inlined);
  EXPECT_EQ(inlined,
            (std::map<std::string, bool>{
                {"start", false}, {"a", false}, {"b", false}, {"always", true}, {"here", false}}));
}

TEST(Overhead, KernelCodeThatAlsoRunsInInterruptsIsKernelCode) {
  const auto profile = make_profile({{"irq:tick|irq:memcpy", 3}, {"memcpy", 1}});
  for (const OverheadRow& row : make_overhead(profile).all.rows) {
    const bool tick = profile.strings[profile.functions[*row.function].name] == "tick";
    EXPECT_EQ(row.kind, tick ? profile::Kind::kInterrupt : profile::Kind::kKernel);
  }
}

// "comm pid/tid vcpu image symbol self total" of the rows; what the keys do not ask for is "-".
std::vector<std::string> keyed_rows(const profile::Profile& profile,
                                    const OverheadOptions& options) {
  const auto text = [](const auto& number) { return number ? std::to_string(*number) : "-"; };
  const auto string = [&](profile::StringId id) {
    return id == 0 ? "-" : std::string(profile.strings[id]);
  };
  std::vector<std::string> rows;
  for (const OverheadRow& row : make_overhead(profile, options).all.rows)
    rows.push_back(fmt::format(
        "{} {}/{} {} {} {} {} {}", string(row.comm), text(row.pid), text(row.tid),
        row.vcpu ? std::to_string(row.vcpu->value) : "-", string(row.image),
        row.function ? string(profile.functions[*row.function].name) : "-", row.self, row.total));
  return rows;
}

TEST(Overhead, RowsAreDistinguishedByTheKeys) {
  TestRecording recording;
  recording.name(1, 1, "dd").name(2, 2, "dd").name(2, 3, "io");
  recording.add({"user:main || sys_read", 1, 0, 1, 1})
      .add({"user:main || sys_read", 2, 1, 2, 2})
      .add({"user:main|user:loop", 4, 1, 2, 3})
      .add({"start", 8, 0});
  const auto profile = recording.profile();
  const auto rows = [&](std::vector<SortKey> keys) {
    OverheadOptions options;
    options.keys = std::move(keys);
    return keyed_rows(profile, options);
  };
  using Rows = std::vector<std::string>;
  EXPECT_EQ(rows({SortKey::kComm}),
            (Rows{"[unknown] -/- - - - 8 8", "io -/- - - - 4 4", "dd -/- - - - 3 3"}));
  EXPECT_EQ(rows({SortKey::kPid}), (Rows{"- -/- - - - 8 8", "- 2/- - - - 6 6", "- 1/- - - - 1 1"}));
  EXPECT_EQ(rows({SortKey::kTid, SortKey::kVcpu}),
            (Rows{"- -/- 0 - - 8 8", "- 2/3 1 - - 4 4", "- 2/2 1 - - 2 2", "- 1/1 0 - - 1 1"}));
  EXPECT_EQ(rows({SortKey::kTask}),
            (Rows{"- -/- - - - 8 8", "- 2/3 - - - 4 4", "- 2/2 - - - 2 2", "- 1/1 - - - 1 1"}));
  EXPECT_EQ(rows({SortKey::kDso, SortKey::kSourceLine}),
            (Rows{"- -/- - kernel - 11 11", "- -/- - program - 4 7"}));
  EXPECT_EQ(rows({SortKey::kDso}), (Rows{"- -/- - kernel - 11 11", "- -/- - program - 4 7"}));
  EXPECT_EQ(rows({SortKey::kComm, SortKey::kDso, SortKey::kSymbol}),
            (Rows{"[unknown] -/- - kernel start 8 8", "io -/- - program loop 4 4",
                  "dd -/- - kernel sys_read 3 3", "io -/- - program main 0 4",
                  "dd -/- - program main 0 3"}));
}

// Some inputs number the threads of each process.
TEST(Overhead, ThreadsOfTwoProcessesWithOneNumberAreTwo) {
  TestRecording recording("generic");
  recording.name(1, 1, "a").name(2, 1, "b");
  recording.add({"f", 1, 0, 1, 1}).add({"f", 2, 0, 2, 1});
  const auto profile = recording.profile();
  for (const SortKey key : {SortKey::kTask, SortKey::kTid}) {
    OverheadOptions options;
    options.keys = {key};
    EXPECT_EQ(keyed_rows(profile, options),
              (std::vector<std::string>{"- 2/1 - - - 2 2", "- 1/1 - - - 1 1"}));
  }
}

TEST(Overhead, RowsByControlGroup) {
  TestRecording recording;
  recording.name(1, 1, "dd", "/box").name(2, 2, "dd", "/box").name(3, 3, "dd", "/");
  recording.add({"f", 1, 0, 1, 1}).add({"f", 2, 0, 2, 2}).add({"f", 4, 0, 3, 3}).add({"f", 8});
  const auto profile = recording.profile();
  OverheadOptions options;
  options.keys = {SortKey::kCgroup};
  std::map<std::string, std::uint64_t> weights;
  for (const OverheadRow& row : make_overhead(profile, options).all.rows)
    weights[std::string(profile.strings[row.cgroup])] = row.self;
  EXPECT_EQ(weights, (std::map<std::string, std::uint64_t>{{"", 8}, {"/", 4}, {"/box", 3}}));
}

TEST(Overhead, AParentIsTheMatchNearestTheLeaf) {
  const auto profile = make_profile({{"sys_a|sys_b|leaf", 1}, {"sys_a|leaf", 2}, {"other", 4}});
  OverheadOptions options;
  options.keys = {SortKey::kParent};
  for (const profile::Function& function : profile.functions)
    options.is_parent.push_back(profile.strings[function.name].starts_with("sys_"));
  std::map<std::string, std::uint64_t> weights;
  for (const OverheadRow& row : make_overhead(profile, options).all.rows)
    weights[row.parent ? std::string(profile.strings[profile.functions[*row.parent].name]) : ""] =
        row.self;
  EXPECT_EQ(weights, (std::map<std::string, std::uint64_t>{{"sys_b", 1}, {"sys_a", 2}, {"", 4}}));
}

// Memory does not grow with sections times owners.
TEST(OverheadLong, AsManyVcpusAsThereCanBe) {
  TestRecording recording;
  constexpr std::uint32_t kVcpus = 65'536;
  for (std::uint32_t vcpu = 0; vcpu < kVcpus; ++vcpu)
    recording.add({"a", 1, static_cast<std::uint16_t>(vcpu)});
  const OverheadTable table = make_overhead(recording.profile());
  EXPECT_EQ(table.per_vcpu.size(), kVcpus);
  EXPECT_EQ(table.all.sampled, kVcpus);
}

}  // namespace
}  // namespace ringside::views
