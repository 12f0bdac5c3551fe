#include "profile/builder.h"

#include <gtest/gtest.h>

#include "profile/profile_test_util.h"

namespace ringside::profile {
namespace {

using testing::make_profile;
using testing::TestRecording;
using testing::text_of;

std::map<std::string, std::uint64_t> stacks_of(const Profile& profile) {
  std::map<std::string, std::uint64_t> result;
  for (const SampleGroup& group : profile.samples)
    if (profile.is_sampled(group)) result[text_of(profile, group.stack)] += group.weight;
  return result;
}

using Stacks = std::map<std::string, std::uint64_t>;

TEST(Builder, AggregatesEqualStacks) {
  const Profile profile =
      make_profile({{"start|work|leaf", 3}, {"start|work", 2}, {"start|work|leaf", 4}});
  EXPECT_EQ(stacks_of(profile), (Stacks{{"start;work;leaf", 7}, {"start;work", 2}}));
  EXPECT_EQ(profile.samples.size(), 2u);
  EXPECT_EQ(profile.unique_stacks, 2u);
  EXPECT_EQ(profile.functions.size(), 3u);
}

TEST(Builder, NamesWhatHasNoName) {
  const Profile profile = make_profile(
      {{"start|?ffffffff81000010", 1}, {"[user]", 2}, {"[firmware]", 3}, {"", 4}, {"a;b|c\nd", 5}});
  EXPECT_EQ(stacks_of(profile), (Stacks{{"start;<unknown:0xffffffff81000010>", 1},
                                        {"[user]", 2},
                                        {"[firmware]", 3},
                                        {"[no stack]", 4},
                                        {"a:b;c d", 5}}));
  EXPECT_EQ(profile.unknown_frames, 1u + 4);  // "[no stack]" is unknown too
  EXPECT_EQ(profile.all_frames, 2u + 2 + 3 + 4 + 10);
}

TEST(Builder, KernelCodeIsCountedByWhatNamesIt) {
  TestRecording recording;
  recording.add({"start|a", 5}).add({"user:main || start|b", 3}).add({"start|?3000", 2});
  recording.add({"start|c", 1}).add({"user:main", 7}).add({"[firmware]", 9});
  for (auto& [address, functions] : recording.namer().names)
    if (functions[0] != "c") recording.namer().files[address] = "/boot/kernel";
  const Profile profile = recording.profile();
  EXPECT_EQ(profile.kernel_files, (std::vector<NamedBy>{{"/boot/kernel", 8}, {"", 1}}));
  EXPECT_EQ(profile.unnamed_kernel_samples, 2u);
  BuildOptions options;
  options.filter.user_only = true;
  EXPECT_TRUE(recording.profile(options).kernel_files.empty());
  options = BuildOptions();
  options.filter.pids = {7};
  EXPECT_TRUE(recording.profile(options).kernel_files.empty());
}

TEST(Builder, InlinedFunctionsAreFrames) {
  const Profile profile = make_profile({{"start|outer < middle < inner|leaf", 1}});
  EXPECT_EQ(stacks_of(profile), (Stacks{{"start;outer;middle;inner;leaf", 1}}));
  std::vector<bool> inlined;
  for (const FrameId frame : profile.stacks.frames_of(profile.samples[0].stack))
    inlined.push_back(profile.frames[frame].inlined);
  EXPECT_EQ(inlined, (std::vector<bool>{false, false, true, true, false}));
}

TEST(Builder, FunctionsAreDistinguishedByImage) {
  const Profile profile =
      make_profile({{"user:main|user:read|vfs_read", 1}, {"user:vfs_read_", 1}});
  ASSERT_EQ(profile.functions.size(), 4u);
  TestRecording recording;
  recording.add({"read", 1});
  recording.namer().names[0x100008] = {"read"};
  Stack stack;
  stack.frames = {{{0x100008}, true, FrameSource::kRegisters, FrameKind::kUser}};
  ASSERT_TRUE(recording.writer().add_sample({}, &stack));
  EXPECT_EQ(recording.profile().functions.size(), 2u);
}

// Frames that were sampled before their code was found.
TEST(Builder, EarlyFramesAreOfTheKernelOfTheirEpoch) {
  TestRecording recording;
  recording.add({"?300010", 3});
  ASSERT_TRUE(recording.writer().add_epoch({1, "kernel gone", 0}));
  recording.add({"?300010", 5}).add({"?2000", 7});
  recording::ImageInfo kernel;
  kernel.name = "second";
  recording::Mapping mapping;
  mapping.image = *recording.writer().add_image(kernel);
  mapping.start = {0x300000};
  mapping.end = {0x400000};
  ASSERT_TRUE(recording.writer().add_mapping(mapping));
  recording.namer().names[0x300010] = {"early"};
  std::map<std::string, std::uint64_t> by_image;
  const Profile profile = recording.profile();
  for (const Function& function : profile.functions)
    by_image[std::string(profile.strings[function.image])] += 1;
  EXPECT_EQ(by_image, (std::map<std::string, std::uint64_t>{{"", 2}, {"second", 1}}));
}

TEST(Builder, EachFrameIsNamedOnce) {
  TestRecording recording;
  recording.add({"start|a|leaf", 50}).add({"start|b", 50});
  (void)recording.profile();
  EXPECT_EQ(recording.namer().calls, 4);
}

TEST(Builder, ShowAddresses) {
  TestRecording recording;
  recording.add({"start", 1});
  BuildOptions options;
  options.show_addresses = true;
  EXPECT_EQ(stacks_of(recording.profile(options)), (Stacks{{"start [0x1008]", 1}}));
}

TEST(Builder, ShowLines) {
  TestRecording recording;
  recording.add({"outer < middle < inner|leaf", 1});
  recording.namer().lines[0x1007] = {{"/usr/src/a.c", 10}, {"b.h", 0}, {"/include/b.h", 7}};
  const Stacks plain{{"outer;middle;inner;leaf", 1}};
  EXPECT_EQ(stacks_of(recording.profile()), plain);
  BuildOptions options;
  options.show_lines = true;
  EXPECT_EQ(stacks_of(recording.profile(options)),
            (Stacks{{"outer a.c:10;middle;inner b.h:7;leaf", 1}}));
}

TEST(Builder, FramesAreToldApartByTheirPlaceInTheSource) {
  TestRecording recording;
  recording.add({"outer < inner|leaf", 1});
  recording.namer().lines[0x1007] = {{"/usr/src/a.c", 10}, {"/include/b.h", 7}};
  BuildOptions options;
  options.source_lines = true;
  const Profile profile = recording.profile(options);
  std::map<std::string, std::string> lines;
  for (const Frame& frame : profile.frames)
    if (frame.line != 0) lines[std::string(profile.name(frame))] = profile.strings[frame.line];
  // The address of the outer function is in the inlined one.
  EXPECT_EQ(lines, (std::map<std::string, std::string>{{"outer", "b.h:7"}, {"inner", "b.h:7"}}));
}

TEST(Builder, SamplesAreToldApartBySpansOfTime) {
  TestRecording recording;
  recording.add({"start", 4});  // 10 ms apart
  BuildOptions options;
  options.span_ns = 20'000'000;
  const Profile profile = recording.profile(options);
  std::map<std::uint64_t, std::uint64_t> samples;
  for (const SampleGroup& group : profile.samples)
    samples[profile.owner_of(group).span_ns.value()] += group.samples;
  EXPECT_EQ(samples,
            (std::map<std::uint64_t, std::uint64_t>{{0, 1}, {20'000'000, 2}, {40'000'000, 1}}));
}

TEST(Builder, SpansOfTimeBeyondTheBoundAreAnErrorThatNamesALengthOfFewer) {
  TestRecording recording;
  recording.add({"start", 20});  // 10 ms apart
  BuildOptions options;
  options.span_ns = 1;
  options.most_spans = 20;
  EXPECT_TRUE(recording.try_profile(options));
  options.most_spans = 19;
  const auto refused = recording.try_profile(options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUsage);
  EXPECT_NE(refused.error().message.find("--time-quantum 100ms"), std::string::npos)
      << refused.error().message;
  options.span_ns = 100'000'000;
  EXPECT_TRUE(recording.try_profile(options));
}

// A small file names few stacks, and each on each other is many.
TEST(BuilderLong, StacksBeyondTheBoundAreLostAndCounted) {
  constexpr std::size_t kDepth = 500;
  constexpr std::size_t kEach = 80;
  const auto stack_of = [](std::uint64_t first, std::size_t depth, FrameKind kind) {
    std::vector<std::uint64_t> addresses(depth);
    for (std::size_t i = 0; i < depth; ++i) addresses[i] = first + i;
    return recording::testing::make_stack(addresses, StopReason::kEndOfStack, kind);
  };
  TestRecording recording;
  for (std::size_t leaf = 0; leaf < kEach; ++leaf)
    for (std::size_t base = 0; base < kEach; ++base) {
      const Stack kernel = stack_of(0x1000 + leaf, kDepth, FrameKind::kKernel);
      const Stack user = stack_of(0x100000 + base, 1, FrameKind::kUser);
      const Stack* const parts[] = {&kernel, &user};
      ASSERT_TRUE(recording.writer().add_sample({}, parts));
    }
  const Profile profile = recording.profile();
  EXPECT_LT(profile.stacks.size(), kEach * kEach * kDepth * 2 / 3);
  EXPECT_GT(profile.stacks.size(), std::size_t{1} << 20);
  ASSERT_EQ(profile.left_out.size(), 1u);
  EXPECT_NE(profile.left_out[0].find("frames in all are left out"), std::string::npos);
  std::uint64_t lost = 0;
  for (const SampleGroup& group : profile.samples)
    if (profile.name(profile.stacks[group.stack].frame) == "[lost stack]") lost += group.samples;
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, kEach * kEach);
  EXPECT_EQ(profile.weight_of(wire::Disposition::kSampled), Weight{kEach * kEach});
}

// Where a function's frames stand: from the lowest line to the highest.
TEST(Builder, FunctionsKnowTheirLines) {
  TestRecording recording;
  recording.namer().names = {{0x1010, {"f"}}, {0x1020, {"f"}}, {0x1040, {"g"}}};
  recording.namer().lines = {{0x1010, {{"/a.c", 12}}}, {0x1020, {{"/a.c", 9}}}};
  for (const std::uint64_t address : {0x1010, 0x1020, 0x1040}) {
    Stack stack;
    stack.frames = {{{address}, true, FrameSource::kRegisters, FrameKind::kKernel}};
    ASSERT_TRUE(recording.writer().add_sample({}, &stack));
  }
  const Profile profile = recording.profile();
  ASSERT_EQ(profile.functions.size(), 2u);
  for (const Function& function : profile.functions) {
    const bool has_lines = profile.strings[function.name] == "f";
    EXPECT_EQ(profile.strings[function.file], has_lines ? "/a.c" : "");
    EXPECT_EQ(function.first_line, has_lines ? 9u : 0u);
    EXPECT_EQ(function.last_line, has_lines ? 12u : 0u);
  }
}

TEST(Builder, UserStacksStandBelowTheKernelsThatTheyEntered) {
  TestRecording recording;
  recording.namer().names = {{0x1010, {"vfs_read"}}, {0x100010, {"main"}}};
  Stack kernel;
  kernel.frames = {{{0x1010}, true, FrameSource::kRegisters, FrameKind::kKernel}};
  kernel.stop = StopReason::kUserMode;
  Stack user;
  user.frames = {{{0x100010}, true, FrameSource::kRegisters, FrameKind::kUser}};
  const Stack* parts[] = {&kernel, &user};
  ASSERT_TRUE(recording.writer().add_sample({}, parts));
  EXPECT_EQ(stacks_of(recording.profile()), (Stacks{{"main;vfs_read", 1}}));
}

TEST(Builder, Filters) {
  TestRecording recording;
  recording.add({"k", 1, 0})
      .add({"user:u", 2, 0})
      .add({"k", 4, 1})
      .add(wire::Disposition::kIdle, 8, 1);
  const auto stacks_with = [&](auto set) {
    BuildOptions options;
    set(options.filter);
    const Profile profile = recording.profile(options);
    std::uint64_t kept = profile.filtered_weight;
    for (const SampleGroup& group : profile.samples) kept += group.weight;
    EXPECT_EQ(kept, 15u);
    return stacks_of(profile);
  };
  EXPECT_EQ(stacks_with([](Filter& f) { f.kernel_only = true; }), (Stacks{{"k", 5}}));
  EXPECT_EQ(stacks_with([](Filter& f) { f.user_only = true; }), (Stacks{{"u", 2}}));
  EXPECT_EQ(stacks_with([](Filter& f) { f.vcpus = {VcpuId{1}}; }), (Stacks{{"k", 4}}));
  // Samples are 10 ms apart, the first at 10 ms.
  EXPECT_EQ(stacks_with([](Filter& f) { f.from_ns = 30'000'000, f.to_ns = 50'000'000; }),
            (Stacks{{"u", 1}, {"k", 1}}));
}

// Two CPU engines and an allocator's samples in one recording.
class Sources : public ::testing::Test {
 protected:
  Sources() {
    add_source("monitor", recording::SourceKind::kCpu,
               {{"ticks", recording::WeightUnit::kTicks, 1}});
    add_source("allocations", recording::SourceKind::kAllocations,
               {{"count", recording::WeightUnit::kCount, 1},
                {"bytes", recording::WeightUnit::kBytes, 16}});
    add(1, "k", 3, {});
    add(2, "k", 5, {});
    add(3, "k", 1, {100});
    add(3, "l", 2, {300});
  }
  void add_source(const std::string& name, recording::SourceKind kind,
                  const std::vector<recording::ValueType>& values) {
    recording::Source source;
    source.name = name;
    source.kind = kind;
    source.values = values;
    EXPECT_TRUE(recording_.writer().add_source(source));
  }
  void add(std::uint32_t source, const std::string& function, std::uint64_t weight,
           const std::vector<std::int64_t>& more) {
    recording::SampleInfo info;
    info.source = source;
    info.weight = weight;
    info.level = PrivilegeLevel::kKernel;
    recording::RecordedFrame frame;
    frame.function = *recording_.writer().add_text(function);
    const std::vector<recording::StackRef> stacks = {
        recording_.writer().add_stack(std::vector{frame})};
    EXPECT_TRUE(recording_.writer().add_sample(info, stacks, more));
  }
  [[nodiscard]] static BuildOptions choosing(std::vector<std::string> sources,
                                             const std::string& value = {}) {
    BuildOptions options;
    options.sources = std::move(sources);
    options.value = value;
    return options;
  }
  std::string error(const BuildOptions& options) {
    const auto profile = recording_.try_profile(options);
    return profile ? "no error" : profile.error().message;
  }

  TestRecording recording_;
};

TEST_F(Sources, TheFirstIsShownAndTheOthersAreCounted) {
  const Profile profile = recording_.profile();
  EXPECT_EQ(profile.source, "cpu");
  EXPECT_EQ(profile.unit, recording::WeightUnit::kTicks);
  EXPECT_EQ(stacks_of(profile), (Stacks{{"k", 3}}));
  EXPECT_EQ(profile.totals.total_weight(), 3u);
  EXPECT_EQ(profile.other_sources,
            (std::vector<OtherSource>{{"monitor", {"ticks"}, 1},
                                      {"allocations", {"count", "bytes"}, 2}}));
}

TEST_F(Sources, OneOrSeveralAreChosenByName) {
  EXPECT_EQ(stacks_of(recording_.profile(choosing({"monitor"}))), (Stacks{{"k", 5}}));
  const Profile both = recording_.profile(choosing({"cpu", "monitor"}));
  EXPECT_EQ(stacks_of(both), (Stacks{{"k", 8}}));
  EXPECT_EQ(both.source, "cpu,monitor");
  EXPECT_EQ(both.totals.total_weight(), 8u);
}

TEST_F(Sources, AValueIsChosenByNameAndScaled) {
  const Profile counts = recording_.profile(choosing({"allocations"}));
  EXPECT_EQ(stacks_of(counts), (Stacks{{"k", 1}, {"l", 2}}));
  EXPECT_EQ(counts.unit, recording::WeightUnit::kCount);
  const Profile bytes = recording_.profile(choosing({"allocations"}, "bytes"));
  EXPECT_EQ(stacks_of(bytes), (Stacks{{"k", 1600}, {"l", 4800}}));
  EXPECT_EQ(bytes.unit, recording::WeightUnit::kBytes);
  EXPECT_EQ(bytes.value, "bytes");
  EXPECT_EQ(bytes.totals.total_weight(), 6400u);
}

// As in pprof's profiles of processors: samples and time. The weight of a context may be large.
TEST_F(Sources, ARecordCountsAsItsValueOfSamplesWhateverValueIsShown) {
  add_source("profile", recording::SourceKind::kOther,
             {{"samples", recording::WeightUnit::kSamples, 1},
              {"time", recording::WeightUnit::kNanoseconds, 1}});
  add(4, "k", 3, {30});
  add(4, "k", 5'000'000'000, {40});
  add(4, "k", 4'294'967'295, {1});
  add(4, "l", 0, {50});
  for (const char* const value : {"samples", "time"}) {
    const Profile profile = recording_.profile(choosing({"profile"}, value));
    EXPECT_EQ(profile.totals.count[0], 9'294'967'299u) << value;
    std::uint64_t most = 0;
    for (const SampleGroup& group : profile.samples) most = std::max(most, group.samples);
    EXPECT_EQ(most, 9'294'967'298u) << value;
  }
  const Profile time = recording_.profile(choosing({"profile"}, "time"));
  EXPECT_EQ(stacks_of(time), (Stacks{{"k", 71}, {"l", 50}}));
}

// Names have the host's time.
TEST_F(Sources, SamplesByAnotherClockHaveTheLastName) {
  recording::Writer& writer = recording_.writer();
  recording::Source source;
  source.name = "instructions";
  source.clock = *writer.add_clock({0, recording::ClockKind::kInstructions, "instructions", 0});
  source.values = {{"count", recording::WeightUnit::kCount, 1}};
  ASSERT_TRUE(writer.add_source(source));
  ASSERT_TRUE(writer.add_thread_name({1'000'000, 7, 0, 0, "first", {}}));
  ASSERT_TRUE(writer.add_thread_name({2'000'000, 7, 0, 0, "last", {}}));
  recording::SampleInfo info;
  info.source = 4;
  info.pid = 7;
  for (info.time_ns = 1; info.time_ns < 5; ++info.time_ns)
    ASSERT_TRUE(writer.add_sample(info, nullptr));
  const Profile profile = recording_.profile(choosing({"instructions"}));
  ASSERT_EQ(profile.owners.size(), 1u);
  EXPECT_EQ(profile.strings[profile.owners[0].comm], "last");
  EXPECT_EQ(error([] {
              BuildOptions options = choosing({"instructions"});
              options.filter.to_ns = 3;
              return options;
            }()),
            "the times of instructions are not seconds of the host, so neither --time nor --sort "
            "time goes with it");
}

TEST_F(Sources, WrongChoicesListWhatThereIs) {
  const std::string all = "cpu (ticks), monitor (ticks), allocations (count, bytes)";
  EXPECT_EQ(error(choosing({"memory"})), "there is no source memory; the recording has " + all);
  EXPECT_EQ(error(choosing({"cpu"}, "bytes")),
            "the source cpu has no value bytes; the recording has " + all);
  EXPECT_EQ(error(choosing({"cpu", "allocations"})),
            "the values of cpu and allocations have several units: choose one source, or a value; "
            "the recording has " +
                all);
}

}  // namespace
}  // namespace ringside::profile
