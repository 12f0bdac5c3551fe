#include "importers/pprof/pprof.h"

#include "importers/importers_test_util.h"
#include "importers/pprof/profile_builder.h"

namespace ringside::importers {
namespace {

using namespace pprof;
using Texts = std::vector<std::string>;

class PprofTest : public ImportTest {
 protected:
  Result<Imported> import(const std::string& bytes, const ImportOptions& options = {}) {
    return ImportTest::import(import_pprof, {bytes}, options);
  }
  [[nodiscard]] std::string frame_file(std::size_t id) const {
    return recorded.texts[recorded.frames[id].file];
  }
};

// main calls read, into which copy is inlined; in 0x1010 is a leaf without a name.
ProfileBuilder small_profile() {
  ProfileBuilder builder;
  builder.type("samples", "count");
  builder.type("cpu", "nanoseconds");
  builder.mapping(1, 0x1000, 0x2000, "/bin/prog", "0a1b2c");
  builder.function(1, "main", "main.c");
  builder.function(2, "read", "read.c");
  builder.function(3, "copy", "copy.h");
  builder.location(1, 1, 0x1100, {{1, 7}});
  builder.location(2, 1, 0x1200, {{3, 30}, {2, 20}});
  builder.location(3, 1, 0x1010);
  return builder;
}

std::string small() {
  ProfileBuilder builder = small_profile();
  builder.sample({2, 1}, {2, 20});
  builder.sample({3, 2, 1}, {3, 30});
  return builder.finish();
}

TEST_F(PprofTest, StacksHaveInlinedFunctionsAndAddresses) {
  ASSERT_TRUE(import(small()));
  ASSERT_EQ(recorded.samples.size(), 2u);
  EXPECT_EQ(recorded.samples[0].frames,
            (Texts{"[prog] copy (inlined)", "[prog] read", "[prog] main"}));
  EXPECT_EQ(recorded.samples[1].frames,
            (Texts{"[prog] 0x1010", "[prog] copy (inlined)", "[prog] read", "[prog] main"}));
  const recording::RecordedFrame& leaf = recorded.frames[3];
  EXPECT_EQ(recorded.texts[leaf.function], "copy");
  EXPECT_EQ(frame_file(3), "copy.h");
  EXPECT_EQ(leaf.line, 30u);
  EXPECT_EQ(leaf.lookup_address(), GuestVirt{0x1200});
  EXPECT_EQ(leaf.kind, FrameKind::kCode);
  EXPECT_EQ(recorded.samples[0].info.level, PrivilegeLevel::kUnknown);
}

// pprof shows the last type unless the profile names another one.
TEST_F(PprofTest, TheLastTypeIsTheFirstValue) {
  ASSERT_TRUE(import(small()));
  ASSERT_EQ(recorded.sources.size(), 1u);
  ASSERT_EQ(recorded.sources[0].values.size(), 2u);
  EXPECT_EQ(recorded.sources[0].values[0],
            (recording::ValueType{"cpu", recording::WeightUnit::kNanoseconds, 1}));
  EXPECT_EQ(recorded.sources[0].values[1],
            (recording::ValueType{"samples", recording::WeightUnit::kSamples, 1}));
  EXPECT_EQ(recorded.samples[1].info.weight, 30u);
  EXPECT_EQ(recorded.samples[1].more_values, (std::vector<std::int64_t>{3}));
}

TEST_F(PprofTest, TheDefaultTypeIsTheFirstValue) {
  ProfileBuilder builder = small_profile();
  builder.number(field::kDefaultSampleType, builder.text("samples"));
  builder.sample({1}, {4, -40});
  ASSERT_TRUE(import(builder.finish()));
  EXPECT_EQ(recorded.sources[0].values[0].name, "samples");
  EXPECT_EQ(recorded.samples[0].info.weight, 4u);
  EXPECT_EQ(recorded.samples[0].more_values, (std::vector<std::int64_t>{-40}));
}

TEST_F(PprofTest, UnitsHaveTheirScale) {
  struct Case {
    const char* unit;
    recording::WeightUnit is;
    std::uint64_t scale;
  };
  const std::vector<Case> cases = {{"nanoseconds", recording::WeightUnit::kNanoseconds, 1},
                                   {"microseconds", recording::WeightUnit::kNanoseconds, 1000},
                                   {"ms", recording::WeightUnit::kNanoseconds, 1000000},
                                   {"seconds", recording::WeightUnit::kNanoseconds, 1000000000},
                                   {"s", recording::WeightUnit::kNanoseconds, 1000000000},
                                   {"Bytes", recording::WeightUnit::kBytes, 1},
                                   {"kilobytes", recording::WeightUnit::kBytes, 1024},
                                   {"MB", recording::WeightUnit::kBytes, 1048576},
                                   {"count", recording::WeightUnit::kCount, 1},
                                   {"objects", recording::WeightUnit::kCount, 1},
                                   {"", recording::WeightUnit::kCount, 1}};
  ProfileBuilder builder;
  for (const Case& one : cases) builder.type("value", one.unit);
  builder.location(1, 0, 0x10);
  builder.sample({1}, std::vector<std::int64_t>(cases.size(), 1));
  ASSERT_TRUE(import(builder.finish()));
  ASSERT_EQ(recorded.sources[0].values.size(), cases.size());
  // The last one stands first.
  for (std::size_t i = 0; i + 1 < cases.size(); ++i) {
    EXPECT_EQ(recorded.sources[0].values[i + 1].unit, cases[i].is) << cases[i].unit;
    EXPECT_EQ(recorded.sources[0].values[i + 1].scale, cases[i].scale) << cases[i].unit;
  }
}

TEST_F(PprofTest, MappingsBecomeImages) {
  ASSERT_TRUE(import(small()));
  ASSERT_EQ(recorded.images.size(), 1u);
  EXPECT_EQ(recorded.images[0].name, "prog");
  EXPECT_EQ(recorded.images[0].path, "/bin/prog");
  EXPECT_EQ(recorded.images[0].build_id,
            (std::vector<std::byte>{std::byte{0x0a}, std::byte{0x1b}, std::byte{0x2c}}));
  ASSERT_EQ(recorded.mappings.size(), 1u);
  EXPECT_EQ(recorded.mappings[0].start, GuestVirt{0x1000});
  EXPECT_EQ(recorded.mappings[0].end, GuestVirt{0x2000});
}

TEST_F(PprofTest, PositionIndependentImagesHaveABias) {
  ProfileBuilder builder = small_profile();
  builder.mapping(2, 0x7f0000003000, 0x7f0000008000, "/lib/libc.so", "xyz", 0x3000);
  builder.location(4, 2, 0x7f0000004000);
  builder.sample({4}, {1, 1});
  ASSERT_TRUE(import(builder.finish()));
  ASSERT_EQ(recorded.images.size(), 2u);
  EXPECT_EQ(recorded.images[0].load_bias, 0u);
  EXPECT_EQ(recorded.images[1].load_bias, 0x7f0000000000u);
  EXPECT_TRUE(recorded.images[1].build_id.empty());
}

TEST_F(PprofTest, TimesAreThoseOfTheProfile) {
  ProfileBuilder builder = small_profile();
  builder.type("cpu", "microseconds", field::kPeriodType);
  builder.number(field::kPeriod, 10000);
  builder.number(field::kTimeNanos, 1700000000000000000);
  builder.number(field::kDurationNanos, 5000);
  builder.sample({1}, {1, 1});
  builder.sample({2}, {1, 1});
  ASSERT_TRUE(import(builder.finish()));
  EXPECT_EQ(recorded.header.engine, "pprof");
  EXPECT_EQ(recorded.header.start_wall_ns, 1700000000000000000u);
  EXPECT_EQ(recorded.header.interval_ns, 10000000u);
  EXPECT_EQ(recorded.sources[0].name, "cpu");
  EXPECT_EQ(recorded.statistics_of[1].duration_ns, 5000u);
  EXPECT_EQ(recorded.statistics_of[1].due, 2u);
  ASSERT_EQ(recorded.clocks.size(), 1u);
  EXPECT_EQ(recorded.clocks[0].kind, recording::ClockKind::kEventNumber);
  EXPECT_EQ(recorded.samples[0].info.time_ns, 0u);
  EXPECT_EQ(recorded.samples[1].info.time_ns, 1u);
}

TEST_F(PprofTest, RingsidesLabelsComeBack) {
  ProfileBuilder builder;
  builder.type("ticks", "count");
  builder.function(1, "sys_read");
  builder.function(2, "main");
  builder.location(1, 0, 0xffffffff81000010, {{1, 0}});
  builder.location(2, 0, 0x401000, {{2, 0}});
  builder.sample({1, 2}, {5},
                 {{"pid", "12"},
                  {"tid", "13"},
                  {"comm", "cat"},
                  {"cgroup", "/a.slice"},
                  {"vcpu", "3"},
                  {"mode", "kernel"}});
  builder.sample({2}, {2}, {{"pid", "12"}, {"tid", "12"}, {"comm", "sh"}, {"mode", "user"}});
  builder.sample({1}, {4}, {{"vcpu", "1"}, {"mode", "idle"}});
  ASSERT_TRUE(import(builder.finish()));
  ASSERT_EQ(recorded.samples.size(), 3u);
  const recording::SampleInfo& kernel = recorded.samples[0].info;
  EXPECT_EQ(kernel.pid, 12u);
  EXPECT_EQ(kernel.tid, 13u);
  EXPECT_EQ(kernel.vcpu, VcpuId{3});
  EXPECT_EQ(kernel.level, PrivilegeLevel::kKernel);
  EXPECT_EQ(recorded.frames[1].kind, FrameKind::kKernel);
  EXPECT_EQ(recorded.frames[2].kind, FrameKind::kUser);
  EXPECT_EQ(recorded.samples[1].info.level, PrivilegeLevel::kUser);
  EXPECT_EQ(recorded.samples[1].info.vcpu, recording::kNoVcpu);
  EXPECT_EQ(recorded.samples[2].info.disposition, wire::Disposition::kIdle);
  EXPECT_TRUE(recorded.samples[2].frames.empty());
  ASSERT_EQ(recorded.thread_names.size(), 2u);
  EXPECT_EQ(recorded.thread_names[0], (recording::ThreadName{0, 12, 13, 0, "cat", "/a.slice"}));
  EXPECT_EQ(recorded.thread_names[1], (recording::ThreadName{1, 12, 12, 0, "sh", ""}));
  EXPECT_EQ(recorded.sources[0].kind, recording::SourceKind::kCpu);
  EXPECT_EQ(recorded.sources[0].values[0].unit, recording::WeightUnit::kTicks);
  EXPECT_EQ(recorded.statistics_of[1].due, 11u);
}

TEST_F(PprofTest, NumbersOfLabelsMayBeNumbers) {
  ProfileBuilder builder = small_profile();
  builder.sample({1}, {1, 1},
                 {{"pid", {}, 4},
                  {"tid", {}, 5},
                  {"thread_comm", "worker"},
                  {"comm", "server"},
                  {"cpu", {}, 2}});
  builder.sample({1}, {1, 1}, {{"pid", "many"}, {"cpu", {}, 1 << 20}});
  ASSERT_TRUE(import(builder.finish()));
  EXPECT_EQ(recorded.samples[0].info.pid, 4u);
  EXPECT_EQ(recorded.samples[0].info.tid, 5u);
  EXPECT_EQ(recorded.samples[0].info.vcpu, VcpuId{2});
  ASSERT_EQ(recorded.thread_names.size(), 1u);
  EXPECT_EQ(recorded.thread_names[0].name, "worker");
  EXPECT_FALSE(recorded.samples[1].info.pid);
  EXPECT_EQ(recorded.samples[1].info.vcpu, recording::kNoVcpu);
}

TEST_F(PprofTest, ThreadsWithoutNumbersAreNumbered) {
  ProfileBuilder builder = small_profile();
  for (const char* name : {"a", "b", "a"}) builder.sample({1}, {1, 1}, {{"thread", name}});
  ASSERT_TRUE(import(builder.finish()));
  EXPECT_EQ(recorded.samples[0].info.pid, 1u);
  EXPECT_EQ(recorded.samples[1].info.pid, 2u);
  EXPECT_EQ(recorded.samples[2].info.pid, 1u);
  EXPECT_EQ(recorded.thread_names.size(), 2u);
}

TEST_F(PprofTest, OtherLabelsAreNamed) {
  ProfileBuilder builder = small_profile();
  builder.sample({1}, {1, 1}, {{"job", "x"}, {"bytes", {}, 16}});
  const auto imported = import(builder.finish());
  ASSERT_TRUE(imported);
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_EQ(imported->warnings[0],
            "input: labels that have no place in a recording are left out: bytes, job");
}

TEST_F(PprofTest, AMappingOfTheKernelTellsTheKernelApart) {
  ProfileBuilder builder = small_profile();
  builder.mapping(2, 0xffffffff81000000, 0xffffffff82000000, "[kernel.kallsyms]_stext");
  builder.function(4, "ksys_read");
  builder.location(4, 2, 0xffffffff81000040, {{4, 0}});
  builder.sample({4, 2, 1}, {1, 1});
  builder.sample({1}, {1, 1});
  ASSERT_TRUE(import(builder.finish()));
  EXPECT_EQ(recorded.samples[0].info.level, PrivilegeLevel::kKernel);
  EXPECT_EQ(recorded.samples[0].frames.front(), "[kernel] ksys_read");
  EXPECT_EQ(recorded.samples[1].info.level, PrivilegeLevel::kUser);
  for (std::size_t i = 1; i < recorded.frames.size(); ++i)
    EXPECT_EQ(recorded.frames[i].kind, recorded.texts[recorded.frames[i].function] == "ksys_read"
                                           ? FrameKind::kKernel
                                           : FrameKind::kUser);
}

TEST_F(PprofTest, AddressesOfTheGivenKernelStayWithoutImage) {
  ProfileBuilder builder = small_profile();
  builder.mapping(2, 0xffffffff81000000, 0xffffffff82000000, "[kernel.kallsyms]");
  builder.location(4, 2, 0xffffffff81000040);
  builder.sample({4}, {1, 1});
  ImportOptions options;
  options.kernel_code = {{GuestVirt{0xffffffff81000000}, GuestVirt{0xffffffff82000000}}};
  ASSERT_TRUE(import(builder.finish(), options));
  EXPECT_EQ(recorded.samples[0].frames, Texts{"0xffffffff81000040"});
  EXPECT_EQ(recorded.samples[0].info.level, PrivilegeLevel::kKernel);
  ASSERT_EQ(recorded.mappings.size(), 1u);  // the program's: the kernel has its own
}

// They are demangled where they are shown.
TEST_F(PprofTest, MangledNamesAreRecorded) {
  ProfileBuilder builder;
  builder.type("samples", "count");
  builder.function(1, "_ZN3foo3barEv");
  builder.location(1, 0, 0x10, {{1, 0}});
  builder.sample({1}, {1});
  ASSERT_TRUE(import(builder.finish()));
  EXPECT_EQ(recorded.samples[0].frames, Texts{"_ZN3foo3barEv"});
}

TEST_F(PprofTest, CommentsOfRingsideAreFigures) {
  ProfileBuilder builder;
  builder.type("ticks", "count");
  builder.location(1, 0, 0x10);
  builder.sample({1}, {7});
  for (const char* comment : {"ringside 1, engine tcg, kernel x",
                              "20 ticks of vCPUs were due, 3 of them are lost", "a cut"})
    builder.number(field::kComment, builder.text(comment));
  const auto imported = import(builder.finish());
  ASSERT_TRUE(imported);
  EXPECT_EQ(recorded.statistics_of[1].due, 10u);
  EXPECT_EQ(recorded.statistics_of[1].lost, 3u);
  EXPECT_EQ(imported->warnings, Texts{"input: its comment: a cut"});
}

TEST_F(PprofTest, CompressedAndPlainAreTheSame) {
  ASSERT_TRUE(import(gzipped(small())));
  EXPECT_EQ(recorded.samples.size(), 2u);
  // gzip allows several members, one behind the other.
  const std::string plain = small();
  ASSERT_TRUE(import(gzipped(plain.substr(0, 40)) + gzipped(plain.substr(40))));
  EXPECT_EQ(recorded.samples.size(), 2u);
}

TEST_F(PprofTest, ASampleThatIsBrokenIsLeftOut) {
  ProfileBuilder builder = small_profile();
  builder.sample({1}, {1, 1});
  builder.sample({1}, {1});        // one value too few
  builder.sample({1, 9}, {1, 1});  // a location that is not there
  builder.sample({}, {2, 2});      // no stack is one
  const auto imported = import(builder.finish());
  ASSERT_TRUE(imported);
  EXPECT_EQ(imported->records, 2u);
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_NE(imported->warnings[0].find("2 parts are left out"), std::string::npos);
  EXPECT_NE(imported->warnings[0].find("it has not as many values as there are types"),
            std::string::npos);
}

TEST_F(PprofTest, LongStacksKeepTheirLeaf) {
  ProfileBuilder builder = small_profile();
  std::vector<std::uint64_t> locations(5000, 1);
  locations.front() = 3;
  builder.sample(locations, {1, 1});
  const auto imported = import(builder.finish());
  ASSERT_TRUE(imported);
  ASSERT_EQ(recorded.samples.size(), 1u);
  EXPECT_EQ(recorded.samples[0].frames.size(), 512u);
  EXPECT_EQ(recorded.samples[0].frames.front(), "[prog] 0x1010");
  ASSERT_EQ(imported->warnings.size(), 1u);
  EXPECT_NE(imported->warnings[0].find("1 stacks are longer"), std::string::npos);
}

TEST_F(PprofTest, KeepsWhatCameBeforeACut) {
  const std::string whole = small();
  std::uint64_t last = 0;
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    const auto imported = import(whole.substr(0, size));
    const std::uint64_t records = imported ? imported->records : 0;
    EXPECT_GE(records, last) << size;
    EXPECT_TRUE(imported || !imported.error().message.empty()) << size;
    last = records;
  }
  EXPECT_EQ(last, 2u);
}

TEST_F(PprofTest, ACompressedCutIsReported) {
  const std::string whole = gzipped(small());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto imported = import(whole.substr(0, size));
    if (imported) {
      EXPECT_FALSE(imported->warnings.empty()) << size;
    } else if (size > 20) {
      EXPECT_EQ(imported.error().code, ErrorCode::kTruncated) << size;
    }
  }
}

TEST_F(PprofTest, DamageAtAnyByteIsNoHarm) {
  const std::string whole = small();
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ change);
      const auto imported = import(damaged);
      EXPECT_TRUE(imported || imported.error().code == ErrorCode::kFormat) << at;
    }
}

TEST_F(PprofTest, AnythingElseIsAnError) {
  for (const std::string& text :
       {std::string(), std::string("main;read 12\n"), gzipped("text"), ProfileBuilder().finish()}) {
    const auto imported = import(text);
    ASSERT_FALSE(imported);
    EXPECT_NE(imported.error().message.find("input: no sample of a pprof profile"),
              std::string::npos);
  }
}

TEST_F(PprofTest, LikenessTellsProfilesApart) {
  const auto likeness = [](const std::string& text) {
    return pprof_likeness({"input", as_bytes(text), {}}, {});
  };
  EXPECT_EQ(likeness(small()), Likeness::kCertain);
  EXPECT_EQ(likeness(gzipped(small())), Likeness::kCertain);
  EXPECT_EQ(likeness(""), Likeness::kNone);
  EXPECT_EQ(likeness("main;read 12\n"), Likeness::kNone);
  EXPECT_EQ(likeness("{\"version\": 1}"), Likeness::kNone);
  EXPECT_EQ(likeness(gzipped("{\"meta\": {\"version\": 24}}")), Likeness::kNone);
  EXPECT_EQ(likeness(std::string(1000, '\0')), Likeness::kNone);
}

}  // namespace
}  // namespace ringside::importers
