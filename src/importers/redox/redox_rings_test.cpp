#include "importers/redox/redox_rings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "importers/importers_test_util.h"
#include "importers/redox/cpu_numbers.h"
#include "wire/redox/ring_test_util.h"

namespace ringside::importers {
namespace {

using namespace wire::redox;
using redox::cpu_number_of;
using redox::cpu_numbers;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint64_t kKernel = 0xffffffff80000000;
constexpr std::uint64_t kPcA = 0x7fffffff80000000;
constexpr std::uint64_t kNone = 0xffffffff;

class RedoxRings : public ImportTest {
 protected:
  Result<Imported> read(char format, const std::vector<RingData>& rings,
                        const ImportOptions& options = {}) {
    std::vector<std::string> texts;
    for (const RingData& ring : rings) texts.push_back(text_of(ring));
    return import(format == 'A' ? import_redox_a : import_redox_b, texts, options);
  }
  [[nodiscard]] std::vector<std::uint64_t> times() const {
    std::vector<std::uint64_t> times;
    for (const auto& sample : recorded.samples) times.push_back(sample.info.time_ns);
    return times;
  }
  [[nodiscard]] const recording::Statistics& statistics() { return recorded.statistics_of[1]; }
};

TEST_F(RedoxRings, FormatB) {
  const auto imported =
      read('B', {{0xfedfac07, kKernel + 0x10, 3'000'000'000, 7, kKernel + 0x105, 0x201234, 0x201300,
                  0xfedfac05, 0x201500, 3'000'000'300, kNone, 0x201600}});
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_EQ(imported->records, 2u);
  EXPECT_THAT(imported->warnings, IsEmpty());
  ASSERT_EQ(recorded.samples.size(), 2u);
  const auto& kernel = recorded.samples[0];
  // The leaf is exact; the others are return addresses.
  EXPECT_THAT(kernel.frames,
              ElementsAre("0xffffffff80000010", "0xffffffff80000104", "0x201233", "0x2012ff"));
  EXPECT_EQ(kernel.info.level, PrivilegeLevel::kKernel);
  EXPECT_EQ(kernel.info.vcpu, VcpuId{0});
  EXPECT_EQ(kernel.info.pid, 7u);
  EXPECT_EQ(kernel.info.tid, 7u);
  EXPECT_EQ(kernel.info.time_ns, 0u);
  const auto& user = recorded.samples[1];
  EXPECT_THAT(user.frames, ElementsAre("0x201500", "0x2015ff"));
  EXPECT_EQ(user.info.level, PrivilegeLevel::kUser);
  EXPECT_FALSE(user.info.pid);
  EXPECT_EQ(user.info.time_ns, 300u);
  const auto kind_of = [&](std::uint64_t address) {
    return std::find_if(recorded.frames.begin(), recorded.frames.end(),
                        [&](const auto& frame) { return frame.address.value == address; })
        ->kind;
  };
  EXPECT_EQ(kind_of(kKernel + 0x105), FrameKind::kKernel);
  EXPECT_EQ(kind_of(0x201234), FrameKind::kUser);
  EXPECT_EQ(kind_of(0x201500), FrameKind::kUser);

  EXPECT_EQ(recorded.header.engine, "redox");
  EXPECT_EQ(recorded.header.arch, Arch::kX86_64);
  EXPECT_EQ(recorded.header.vcpu_count, 1u);
  ASSERT_EQ(recorded.sources.size(), 1u);
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kCpu);
  EXPECT_EQ(recorded.sources[0].values.at(0).unit, recording::WeightUnit::kTicks);
  EXPECT_EQ(statistics().due, 2u);
  EXPECT_EQ(statistics().lost, 0u);
}

TEST_F(RedoxRings, FormatA) {
  ASSERT_TRUE(read('A', {{kPcA + 0x10, 100, kKernel + 0x105, kPcA + 0x20, 250}}));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_THAT(recorded.samples[0].frames, ElementsAre("0xffffffff80000010", "0xffffffff80000104"));
  EXPECT_THAT(recorded.samples[1].frames, ElementsAre("0xffffffff80000020"));
  EXPECT_EQ(recorded.samples[1].info.level, PrivilegeLevel::kKernel);
  EXPECT_FALSE(recorded.samples[1].info.pid);
  EXPECT_THAT(times(), ElementsAre(0, 150));
}

TEST_F(RedoxRings, TimesAreTicksOrNanoseconds) {
  const RingData ring = {kPcA, 1000, kPcA, 1011, kPcA, 1022};
  ASSERT_TRUE(read('A', {ring}));
  EXPECT_THAT(times(), ElementsAre(0, 11, 22));
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kGuestCounter);
  EXPECT_EQ(recorded.clocks[0].name, "time stamp counter");
  EXPECT_EQ(recorded.clocks[0].frequency, 0u);
  EXPECT_EQ(recorded.sources[0].clock, 1u);

  ImportOptions options;
  options.counter_hz = 2.2e9;
  ASSERT_TRUE(read('A', {ring}, options));
  EXPECT_THAT(times(), ElementsAre(0, 5, 10));
  EXPECT_THAT(recorded.clocks, IsEmpty());
  EXPECT_EQ(recorded.sources[0].clock, recording::kHostClock);
  EXPECT_EQ(recorded.header.start_monotonic_ns, 454u);  // 1000 / 2.2
}

TEST_F(RedoxRings, CpusAreMergedByTime) {
  ASSERT_TRUE(read('A', {{kPcA + 1, 100, kPcA + 2, 300}, {}, {kPcA + 3, 50, kPcA + 4, 300}}));
  std::vector<std::string> leaves;
  std::vector<int> cpus;
  for (const auto& sample : recorded.samples) {
    leaves.push_back(sample.frames.front().substr(17));
    cpus.push_back(sample.info.vcpu.value);
  }
  EXPECT_THAT(leaves, ElementsAre("3", "1", "2", "4"));
  EXPECT_THAT(cpus, ElementsAre(2, 0, 0, 2));
  EXPECT_THAT(times(), ElementsAre(0, 50, 250, 250));
  EXPECT_EQ(recorded.header.vcpu_count, 3u);
}

TEST_F(RedoxRings, ContextsHaveNames) {
  ImportOptions options;
  options.context_names = {{7, "/bin/ion"}, {9, "unseen"}};
  ASSERT_TRUE(
      read('B', {{0xfedfac04, kKernel, 1, 8, 0xfedfac04, kKernel, 5, 7, 0xfedfac04, kKernel, 6, 7}},
           options));
  ASSERT_EQ(recorded.thread_names.size(), 1u);
  const recording::ThreadName& name = recorded.thread_names[0];
  EXPECT_EQ(name.name, "/bin/ion");
  EXPECT_EQ(name.pid, 7u);
  EXPECT_EQ(name.tid, 0u);
  EXPECT_EQ(name.time_ns, 4u);
}

TEST_F(RedoxRings, OneWithoutSamplesIsAnError) {
  const auto none = read('B', {{kKernel, 5, 6}});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kFormat);
  EXPECT_THAT(none.error().message, AllOf(HasSubstr("input"), HasSubstr("offset 0x0")));
  EXPECT_FALSE(read('A', {{}}));
  EXPECT_FALSE(read('A', {RingData(100)}));
}

TEST_F(RedoxRings, WhatIsDamagedIsCounted) {
  const auto imported = read('B', {{0xfedfac04, kKernel, 1, kNone, 0x1234, 0x5678, 0xfedfac04,
                                    kKernel, 2, kNone, 0, 0, 0xfedfac04, kKernel, 3, kNone}});
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->warnings,
              ElementsAre("input: 2 pieces are left out; the first is at offset 0x20: words that "
                          "are of no sample"));
  EXPECT_THAT(times(), ElementsAre(0, 1, 2));
  EXPECT_EQ(statistics().due, 4u);
  EXPECT_EQ(statistics().lost, 1u);
}

// A file may begin inside of a sample, and words of 0 at its end were never written.
TEST_F(RedoxRings, WhatARingHasAtItsEndsIsNoDamage) {
  const auto imported =
      read('B', {{kKernel, kKernel, 0xfedfac04, kKernel, 1, kNone, 0, 0, 0, 0, 0}});
  ASSERT_TRUE(imported);
  EXPECT_THAT(imported->warnings, IsEmpty());
  EXPECT_EQ(recorded.samples.size(), 1u);
  EXPECT_EQ(statistics().lost, 1u);
}

TEST_F(RedoxRings, ATimeThatGoesBackIsThatOfTheOneBefore) {
  const auto sample = [](std::uint64_t counter) {
    return RingData{0xfedfac04, kKernel, counter, kNone};
  };
  const auto read_times = [&](const std::vector<std::uint64_t>& counters) {
    RingData ring;
    for (const std::uint64_t counter : counters)
      for (const std::uint64_t word : sample(counter)) ring.push_back(word);
    const auto imported = read('B', {ring});
    EXPECT_EQ(imported->warnings.size(), 1u);
    EXPECT_THAT(imported->warnings[0], HasSubstr("have the time of the one before"));
    return times();
  };
  EXPECT_THAT(read_times({10, 20, 3, 30, 40}), ElementsAre(0, 10, 10, 20, 30));
  EXPECT_THAT(read_times({10, 20, 9999, 30, 40}), ElementsAre(0, 10, 10, 20, 30));
  EXPECT_THAT(read_times({25, 20, 30, 40}), ElementsAre(0, 0, 10, 20));
}

TEST(RedoxCpuNumbers, AreAtTheEndOfNames) {
  EXPECT_EQ(cpu_number_of("profiling-3"), VcpuId{3});
  EXPECT_EQ(cpu_number_of("/tmp/run.9/ring.3.bin"), VcpuId{3});
  EXPECT_EQ(cpu_number_of("ring12.raw"), VcpuId{12});
  EXPECT_EQ(cpu_number_of("dump.0"), VcpuId{0});
  EXPECT_EQ(cpu_number_of("7"), VcpuId{7});
  EXPECT_FALSE(cpu_number_of("profiling.txt"));
  EXPECT_FALSE(cpu_number_of("/tmp/2/profiling"));
  EXPECT_FALSE(cpu_number_of("profile-20261103"));
  EXPECT_FALSE(cpu_number_of(""));
}

TEST(RedoxCpuNumbers, TwoOfOneCpuAreAnError) {
  const auto numbers = [](std::vector<std::string> names) {
    std::vector<Input> inputs;
    for (std::string& name : names) inputs.push_back({std::move(name), {}, {}});
    return cpu_numbers(inputs);
  };
  EXPECT_THAT(*numbers({"profiling-3", "profiling-0", "x"}),
              ElementsAre(VcpuId{3}, VcpuId{0}, VcpuId{2}));
  EXPECT_FALSE(numbers({"profiling-3", "profiling-2", "x"}));
  const auto twice = numbers({"a/profiling-1", "b/profiling-1"});
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::kUsage);
  EXPECT_THAT(twice.error().message,
              AllOf(HasSubstr("a/profiling-1"), HasSubstr("b/profiling-1"), HasSubstr("CPU 1")));
}

TEST(RedoxLikeness, IsOfAllWords) {
  const auto a = [](const RingData& ring, const ImportOptions& options = {}) {
    const std::string text = text_of(ring);
    return redox_a_likeness({"input", as_bytes(text), {}}, options);
  };
  const auto b = [](const RingData& ring, const ImportOptions& options = {}) {
    const std::string text = text_of(ring);
    return redox_b_likeness({"input", as_bytes(text), {}}, options);
  };
  const RingData ring_a = {kPcA, 1, kKernel + 5, kPcA, 2};
  const RingData ring_b = {0xfedfac05, kKernel, 1, kNone, kKernel + 5};
  EXPECT_EQ(a(ring_a), Likeness::kFits);
  EXPECT_EQ(b(ring_b), Likeness::kCertain);
  EXPECT_EQ(a(ring_b), Likeness::kNone);
  EXPECT_EQ(b(ring_a), Likeness::kNone);
  EXPECT_EQ(a({}), Likeness::kNone);
  EXPECT_EQ(b({0, 0, 0}), Likeness::kNone);
  EXPECT_EQ(b({kKernel, 0xfedfac05, kKernel, 1, kNone, kKernel + 5}), Likeness::kFits);
  EXPECT_EQ(a({7, kPcA, 1, 7, kPcA, 2}), Likeness::kFits);
  EXPECT_EQ(a({kPcA, 1, 7, kPcA, 2, 7, kPcA, 3, 7}), Likeness::kNone);
  ImportOptions options;
  options.kernel_code = {{{kKernel}, {kKernel + 5}}};
  EXPECT_EQ(a(ring_a, options), Likeness::kNone);
  options.kernel_code = {{{kKernel}, {kKernel + 6}}};
  EXPECT_EQ(a(ring_a, options), Likeness::kFits);
  const std::string text = "a text of some words, which no ring of a kernel's samples is at all\n";
  EXPECT_EQ(redox_a_likeness({"text", as_bytes(text), {}}, {}), Likeness::kNone);
  EXPECT_EQ(redox_b_likeness({"text", as_bytes(text), {}}, {}), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
