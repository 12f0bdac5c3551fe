#include "views/comparison/comparison.h"

#include <gtest/gtest.h>

#include <cmath>

#include "profile/profile_test_util.h"
#include "views/comparison/limit.h"
#include "views/comparison/sampled_functions.h"
#include "views/comparison/unlike.h"

namespace ringside::views {
namespace {

using profile::testing::TestRecording;

SampledFunctions functions_of(TestRecording& recording, bool inlined_rows = false) {
  auto reader = recording.reader();
  auto details = profile::DetailedProfile::read(reader, recording.namer(), {});
  EXPECT_TRUE(details);
  auto functions = SampledFunctions::read(**details, inlined_rows);
  EXPECT_TRUE(functions);
  return std::move(*functions);
}

const FunctionSum& named(const FunctionSums& sums, const std::string& name) {
  for (const FunctionSum& function : sums.functions)
    if (function.name == name) return function;
  ADD_FAILURE() << "no " << name;
  return sums.functions.front();
}

const ComparedFunction& named(const Comparison& comparison, const std::string& name) {
  for (const ComparedFunction& function : comparison.functions)
    if (function.name == name) return function;
  ADD_FAILURE() << "no " << name;
  return comparison.functions.front();
}

TEST(SampledFunctions, AreSummedUpOnceAStack) {
  TestRecording recording;
  recording.add({"main|again|again|work", 3}).add({"main|work.isra.0", 2}).add({"main", 1});
  recording.add(wire::Disposition::kIdle, 5);
  const FunctionSums sums = functions_of(recording).sum(2, {"main", "work"});
  EXPECT_EQ(sums.weight, 6);
  EXPECT_EQ(sums.samples, 6u);
  EXPECT_EQ(named(sums, "again").total, 3);
  EXPECT_EQ(named(sums, "again").self, 0);
  EXPECT_EQ(named(sums, "work").self, 5);
  EXPECT_EQ(named(sums, "work").total, 5);
  EXPECT_EQ(named(sums, "main").total, 6);
  EXPECT_EQ(named(sums, "main").self, 1);
  EXPECT_EQ(sums.block_weights, (std::vector<double>{3, 3}));
  EXPECT_EQ(named(sums, "work").self_blocks, (std::vector<float>{3, 2}));
  EXPECT_EQ(named(sums, "main").total_blocks, (std::vector<float>{3, 3}));
  EXPECT_TRUE(named(sums, "again").total_blocks.empty());
}

// Nothing scatters from run to run: one sample is a change.
TEST(Comparison, OfDeterministicRecordingsEachChangeIsSure) {
  TestRecording before;
  before.add({"main|a", 300}).add({"main|b", 99}).add({"main|c", 1});
  TestRecording after;
  after.add({"main|a", 300}).add({"main|b", 98}).add({"main|c", 1}).add({"main|d", 1});
  const FunctionSums old = functions_of(before).sum();
  const FunctionSums now = functions_of(after).sum();
  const Comparison tested = compare(old, now);
  EXPECT_EQ(verdict_of(named(tested, "b").self, 0.001), Verdict::kUnsure);
  const Comparison exact = compare(old, now, true);
  EXPECT_TRUE(exact.is_exact);
  EXPECT_EQ(verdict_of(named(exact, "a").self, 0.001), Verdict::kEqual);
  EXPECT_EQ(verdict_of(named(exact, "b").self, 0.001), Verdict::kShrank);
  EXPECT_EQ(verdict_of(named(exact, "c").self, 0.001), Verdict::kEqual);
  EXPECT_EQ(verdict_of(named(exact, "d").self, 0.001), Verdict::kNew);
  EXPECT_EQ(breaches(exact, {*parse_limit("> 0.1%", false)}, 0.001).size(), 1u);
}

TEST(Comparison, DeterministicRecordingsAreExactWhereNothingElseDiffers) {
  recording::Header one;
  one.interval_ns = 1'000'000;
  recording::Header other = one;
  EXPECT_FALSE(are_of_one_run(one, other));
  one.deterministic_seed = 1;
  EXPECT_FALSE(are_of_one_run(one, other));
  other.deterministic_seed = 1;
  EXPECT_TRUE(are_of_one_run(one, other));
  other.deterministic_seed = 2;
  EXPECT_FALSE(are_of_one_run(one, other));
  other = one;
  other.interval_ns = 2'000'000;
  EXPECT_FALSE(are_of_one_run(one, other));
  other = one;
  other.qemu_version = "10.0.2";
  EXPECT_FALSE(are_of_one_run(one, other));
  other = one;
  one.command_line = {"qemu-system-x86_64", "-kernel", "a", "-serial", "file:1", "-m", "64"};
  other.command_line = {"qemu-system-x86_64", "-kernel", "b", "-serial", "file:2", "-m", "64"};
  EXPECT_TRUE(are_of_one_run(one, other));
  other.command_line.back() = "128";
  EXPECT_FALSE(are_of_one_run(one, other));
}

TEST(SampledFunctions, InlinedFunctionsHaveRowsWhereTheyAreWanted) {
  TestRecording recording;
  recording.add({"main|outer < inner", 4});
  const FunctionSums without = functions_of(recording).sum();
  EXPECT_EQ(named(without, "outer").self, 4);
  EXPECT_EQ(without.functions.size(), 2u);
  TestRecording again;
  again.add({"main|outer < inner", 4});
  const FunctionSums with = functions_of(again, true).sum();
  EXPECT_EQ(named(with, "inner").self, 4);
  EXPECT_EQ(named(with, "outer").self, 0);
  EXPECT_EQ(named(with, "outer").total, 4);
}

TEST(SampledFunctions, WeightsCountAndNotSamples) {
  TestRecording recording;
  recording.add({"main|a", 1, 0, {}, {}, 0, 30}).add({"main|b", 10, 0, {}, {}, 0, 1});
  const FunctionSums sums = functions_of(recording).sum();
  EXPECT_EQ(sums.weight, 40);
  EXPECT_EQ(named(sums, "a").self, 30);
  EXPECT_EQ(named(sums, "a").self_samples, 1u);
}

// A share of 1/2 became 3/4; the clone of another build is the same function.
TEST(Comparison, ComparesSharesByName) {
  TestRecording before;
  before.add({"main|old", 100}).add({"main|work", 100});
  TestRecording after;
  after.add({"main|work.constprop.0", 300}).add({"main|fresh", 100});
  const Comparison comparison = compare(functions_of(before).sum(), functions_of(after).sum());
  const ComparedShare& work = named(comparison, "work").self;
  EXPECT_DOUBLE_EQ(work.before, 0.5);
  EXPECT_DOUBLE_EQ(work.after, 0.75);
  EXPECT_EQ(work.samples_before, 100u);
  EXPECT_EQ(work.samples_after, 300u);
  EXPECT_EQ(verdict_of(work, 0.001), Verdict::kGrew);
  EXPECT_EQ(verdict_of(named(comparison, "old").self, 0.001), Verdict::kGone);
  EXPECT_EQ(verdict_of(named(comparison, "fresh").self, 0.001), Verdict::kNew);
  EXPECT_EQ(verdict_of(named(comparison, "main").total, 0.001), Verdict::kUnsure);
  EXPECT_EQ(verdict_of(named(comparison, "main").self, 0.001), Verdict::kFewSamples);
  EXPECT_EQ(comparison.tested_self, 3u);
  EXPECT_EQ(comparison.tested_total, 4u);
  EXPECT_EQ(by_change(comparison, false).front()->name, "old");
}

TEST(Comparison, FewSamplesAreNotTested) {
  TestRecording before;
  before.add({"main", 1000}).add({"main|rare", 4});
  TestRecording after;
  after.add({"main", 1000}).add({"main|rare", 5});
  const Comparison comparison = compare(functions_of(before).sum(), functions_of(after).sum());
  EXPECT_EQ(verdict_of(named(comparison, "rare").self, 0.001), Verdict::kFewSamples);
  EXPECT_EQ(comparison.tested_self, 1u);
}

FunctionSums sums_of(std::vector<FunctionSum> functions) {
  FunctionSums sums;
  for (FunctionSum& function : functions) {
    function.self_samples = function.total_samples = static_cast<std::uint64_t>(function.self);
    function.total = function.self;
    sums.weight += function.self;
    sums.samples += function.self_samples;
  }
  sums.functions = std::move(functions);
  return sums;
}

FunctionSum sum_of(const char* name, const char* image, profile::Weight weight) {
  FunctionSum sum;
  sum.name = name;
  sum.image = image;
  sum.self = weight;
  return sum;
}

// Folded stacks have no images.
TEST(Comparison, ANameWithoutAnImageIsTheOneOfThatName) {
  const Comparison comparison = compare(
      sums_of({sum_of("f", "", 50), sum_of("g", "", 50)}),
      sums_of({sum_of("f", "kernel", 80), sum_of("g", "kernel", 10), sum_of("g", "libc", 10)}));
  ASSERT_EQ(comparison.functions.size(), 4u);
  const ComparedFunction& joined = named(comparison, "f");
  EXPECT_EQ(joined.image, "kernel");
  EXPECT_DOUBLE_EQ(joined.self.before, 0.5);
  EXPECT_DOUBLE_EQ(joined.self.after, 0.8);
}

TEST(Comparison, FunctionsOfTwoImagesAreTwoButThoseOfTheKernel) {
  FunctionSum before = sum_of("f", "kernel.elf", 50);
  FunctionSum after = sum_of("f", "libc", 50);
  before.kind = profile::Kind::kKernel;
  after.kind = profile::Kind::kUser;
  EXPECT_EQ(compare(sums_of({before}), sums_of({after})).functions.size(), 2u);
  after.kind = profile::Kind::kInterrupt;
  EXPECT_EQ(compare(sums_of({before}), sums_of({after})).functions.size(), 1u);
}

// Each recording has a share of each function, and one that lacks it has none of it.
TEST(Comparison, OfSeveralRecordingsOfEachBuild) {
  const std::vector<FunctionSums> before = {sums_of({sum_of("f", "k", 100), sum_of("g", "k", 900)}),
                                            sums_of({sum_of("f", "k", 110), sum_of("g", "k", 890)}),
                                            sums_of({sum_of("f", "k", 90), sum_of("g", "k", 910)})};
  const std::vector<FunctionSums> after = {
      sums_of({sum_of("f", "k", 200), sum_of("g", "k", 780), sum_of("new", "k", 20)}),
      sums_of({sum_of("f", "k", 210), sum_of("g", "k", 790)}),
      sums_of({sum_of("f", "k", 190), sum_of("g", "k", 810)})};
  const Comparison comparison = compare_runs(before, after);
  EXPECT_TRUE(comparison.is_of_runs());
  EXPECT_EQ(comparison.before.samples, 3000u);
  const ComparedShare& f = named(comparison, "f").self;
  EXPECT_NEAR(f.before, 0.1, 1e-6);
  EXPECT_NEAR(f.after, 0.2, 1e-6);
  EXPECT_NEAR(f.difference.error, std::sqrt(0.0001 * 2 / 3), 1e-6);  // each scatters by 0.01
  EXPECT_DOUBLE_EQ(f.difference.degrees, 4);
  const ComparedShare& fresh = named(comparison, "new").self;
  EXPECT_NEAR(fresh.difference.change, 0.02 / 3, 1e-6);
  EXPECT_GT(fresh.difference.p, 0.1);  // one recording of three has it
}

// A recording counts as much as another one, however long it is.
TEST(Comparison, SharesOfSeveralRecordingsAreMeans) {
  const std::vector<FunctionSums> before = {
      sums_of({sum_of("f", "k", 90), sum_of("g", "k", 10)}),
      sums_of({sum_of("f", "k", 100), sum_of("g", "k", 9900)})};
  const std::vector<FunctionSums> after = {
      sums_of({sum_of("f", "k", 50), sum_of("g", "k", 50)}),
      sums_of({sum_of("f", "k", 5000), sum_of("g", "k", 5000)})};
  const Comparison comparison = compare_runs(before, after);
  const ComparedShare& g = named(comparison, "g").self;
  EXPECT_NEAR(g.before, (0.1 + 0.99) / 2, 1e-6);
  EXPECT_NEAR(g.after, 0.5, 1e-6);
  EXPECT_NEAR(g.difference.change, g.after - g.before, 1e-6);
}

TEST(Comparison, WithoutNumbersOfSamplesThereIsNoTest) {
  FunctionSums weights = sums_of({sum_of("f", "k", 500), sum_of("g", "k", 500)});
  weights.samples = 0;
  const Comparison comparison =
      compare(weights, sums_of({sum_of("f", "k", 900), sum_of("g", "k", 100)}));
  EXPECT_FALSE(comparison.has_test());
  const ComparedShare& f = named(comparison, "f").self;
  EXPECT_EQ(verdict_of(f, 0.001), Verdict::kNoTest);
  EXPECT_DOUBLE_EQ(f.difference.change, 0.4);
  EXPECT_EQ(comparison.tested_self, 0u);
}

TEST(BlockCount, NeedsSamplesAndTimes) {
  TestRecording few;
  few.add({"main", 624});
  TestRecording many;
  many.add({"main", 1000});
  TestRecording more;
  more.add({"main", 2000});
  const SampledFunctions less = functions_of(few);
  const SampledFunctions enough = functions_of(many);
  const SampledFunctions plenty = functions_of(more);
  EXPECT_EQ(block_count(less, plenty), 0u);
  EXPECT_EQ(block_count(enough, plenty), 8u * 11);
  EXPECT_EQ(block_count(plenty, plenty), 8u * 13);
}

TEST(Unlikeness, OfRecordingsOfOneKindIsNone) {
  TestRecording one;
  one.add({"main", 1});
  TestRecording other;
  other.add({"main", 1});
  EXPECT_TRUE(unlikeness(functions_of(one), functions_of(other)).empty());
}

TEST(Unlikeness, NamesWhatDiffers) {
  const auto recorded = [](const char* engine, const char* qemu, std::uint64_t interval_ns,
                           std::vector<std::string> command) {
    recording::testing::TempDir dir;
    recording::Header header;
    header.engine = engine;
    header.qemu_version = qemu;
    header.interval_ns = interval_ns;
    header.command_line = std::move(command);
    auto writer = recording::Writer::create(dir / "t.data", header);
    EXPECT_TRUE(writer && writer->finish());
    auto reader = recording::Reader::open(dir / "t.data");
    EXPECT_TRUE(reader);
    profile::testing::FakeNamer namer;
    auto details = profile::DetailedProfile::read(*reader, namer, {});
    EXPECT_TRUE(details);
    auto functions = SampledFunctions::read(**details, false);
    EXPECT_TRUE(functions);
    return std::move(*functions);
  };
  const SampledFunctions one = recorded(
      "tcg", "7.2.22", 1'000'000, {"/usr/bin/qemu-system-x86_64", "-smp", "2", "-kernel", "a"});
  const SampledFunctions other =
      recorded("gdb", "10.0.2", 10'000'000, {"qemu-system-x86_64", "-smp", "4", "-kernel", "b"});
  EXPECT_EQ(unlikeness(one, other),
            (std::vector<std::string>{"engine tcg and gdb", "interval 1 ms and 10 ms",
                                      "QEMU 7.2.22 and 10.0.2",
                                      "machine qemu-system-x86_64 -smp 2 and "
                                      "qemu-system-x86_64 -smp 4"}));
}

}  // namespace
}  // namespace ringside::views
