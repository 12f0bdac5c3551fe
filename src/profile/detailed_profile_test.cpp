#include "profile/detailed_profile.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/profile_test_util.h"
#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

using profile::testing::TestRecording;

// A stack, and whose it is.
using Key = std::tuple<std::string, std::string, std::optional<std::uint32_t>, std::uint16_t,
                       PrivilegeLevel, wire::Disposition>;
struct Sum {
  Weight weight = 0;
  std::uint64_t samples = 0;
  bool operator==(const Sum&) const = default;
};
using Sums = std::map<Key, Sum>;

Key key_of(const Profile& profile, const Owner& owner, std::string stack) {
  return {std::move(stack), std::string(profile.strings[owner.comm]),
          owner.tid,        owner.vcpu.value,
          owner.level,      owner.disposition};
}

Sums sums_of(const Profile& profile) {
  Sums sums;
  for (const SampleGroup& group : profile.samples) {
    std::string stack;
    for (const FrameId frame : profile.stacks.frames_of(group.stack))
      stack += ";" + std::string(profile.name(frame));
    Sum& sum = sums[key_of(profile, profile.owner_of(group), stack)];
    sum.weight += group.weight;
    sum.samples += group.samples;
  }
  return sums;
}

std::string stack_text(DetailedProfile& profile, std::uint32_t group) {
  std::string stack;
  for (const StackEntry& entry : profile.stack_of(group)) {
    const DetailedFrame frame = profile.frame(entry);
    std::string functions;
    for (const FrameId function : frame.functions)
      functions += ";" + std::string(profile.profile().name(function));
    stack = functions + stack;
  }
  return stack;
}

class Summed final : public SampleReceiver {
 public:
  explicit Summed(DetailedProfile& profile) : profile_(profile) {}
  void sample(const TimedSample& sample) override {
    const Owner& owner = profile_.owner_of(sample.group);
    Sum& sum = sums[key_of(profile_.profile(), owner, stack_text(profile_, sample.group))];
    sum.weight += sample.values.front();
    ++sum.samples;
    times.push_back(sample.time);
  }
  Sums sums;
  std::vector<std::uint64_t> times;

 private:
  DetailedProfile& profile_;
};

// Threads that change their names, interrupts, joined and lost stacks, idle ticks.
void add_all(TestRecording& recording) {
  recording.name(7, 0, "shell").name(8, 0, "[process 8]");
  recording.add({"entry|syscall < inlined|read", 3, 0, 7, 7, 0x7000});
  recording.add({"user:main|user:loop || entry|fault", 2, 1, 7, 9, 0x7000});
  recording.add({"user:main|[user]", 2, 1, 8, 8, 0x8000});
  recording.add({"user:main|[user]", 1, 1, 8, 8, 0});
  recording.name(7, 7, "editor;x");
  recording.add({"entry|syscall < inlined|read", 4, 0, 7, 7, 0x7000, 5});
  recording.add({"entry|idle|irq:timer|irq:tick", 2, 0, 7, 7, 0x7000});
  recording.add({"entry|?ffffffff81000000", 2});
  recording.add({"", 1});
  recording.add(wire::Disposition::kIdle, 4, 1);
  recording.add(wire::Disposition::kFailed, 1, 1);
}

void expect_same(const BuildOptions& options) {
  TestRecording recording;
  add_all(recording);
  const Profile profile = recording.profile(options);
  auto reader = recording.reader();
  auto details = DetailedProfile::read(reader, recording.namer(), options);
  ASSERT_TRUE(details);
  Summed summed(**details);
  ASSERT_TRUE((*details)->for_each(summed));
  EXPECT_EQ(summed.sums, sums_of(profile));
  EXPECT_FALSE(summed.sums.empty());
}

TEST(DetailedProfile, IsWhatAProfileSumsUp) {
  expect_same({});
  BuildOptions options;
  options.join_interrupts = false;
  expect_same(options);
  options = {};
  options.filter.tids = {7};
  expect_same(options);
  options = {};
  options.filter.comms = {"editor:x"};
  expect_same(options);
  options = {};
  options.filter.user_only = true;
  expect_same(options);
  options = {};
  options.filter.vcpus = {{1}};
  expect_same(options);
  options = {};
  options.filter.from_ns = 45'000'000;
  options.filter.to_ns = 95'000'000;
  expect_same(options);
}

TEST(DetailedProfile, HandsOnSamplesInTheirOrderAgainAndAgain) {
  TestRecording recording;
  add_all(recording);
  auto reader = recording.reader();
  auto details = DetailedProfile::read(reader, recording.namer(), {});
  ASSERT_TRUE(details);
  Summed first(**details);
  Summed second(**details);
  ASSERT_TRUE((*details)->for_each(first));
  ASSERT_TRUE((*details)->for_each(second));
  EXPECT_EQ(first.sums, second.sums);
  ASSERT_FALSE(first.times.empty());
  for (std::size_t i = 0; i < first.times.size(); ++i)
    EXPECT_EQ(first.times[i], 10'000'000 * (i + 1));
}

TEST(DetailedProfile, HasAddressesPlacesAndTheUsersPart) {
  TestRecording recording;
  recording.add({"user:main || entry < inlined|read", 1, 0, 7, 7});
  auto& lines = recording.namer().lines;
  for (const auto& [address, names] : recording.namer().names)
    if (names.size() == 2) lines[address] = {{"entry.c", 10}, {"inlined.c", 20}};
  auto reader = recording.reader();
  auto details = DetailedProfile::read(reader, recording.namer(), {});
  ASSERT_TRUE(details);
  const auto stack = (*details)->stack_of(0);
  ASSERT_EQ(stack.size(), 3);
  EXPECT_FALSE(stack[0].is_user_part);
  EXPECT_FALSE(stack[1].is_user_part);
  EXPECT_TRUE(stack[2].is_user_part);
  const DetailedFrame entry = (*details)->frame(stack[1]);
  const Profile& profile = (*details)->profile();
  ASSERT_EQ(entry.functions.size(), 2);
  EXPECT_EQ(profile.name(entry.functions[1]), "inlined");
  EXPECT_EQ(profile.strings[entry.place(1).file], "inlined.c");
  EXPECT_EQ(entry.place(1).line, 20);
  EXPECT_EQ(entry.place(2).line, 0);
  EXPECT_FALSE(entry.exact);
  EXPECT_EQ(entry.lookup_address(), entry.address - 1);
  EXPECT_EQ(entry.image->name, "kernel");
}

TEST(DetailedProfile, HasNoStackForIdleAndFailedTicks) {
  TestRecording recording;
  recording.add(wire::Disposition::kIdle, 1).add({""});
  auto reader = recording.reader();
  auto details = DetailedProfile::read(reader, recording.namer(), {});
  ASSERT_TRUE(details);
  EXPECT_TRUE((*details)->stack_of(0).empty());
  EXPECT_EQ(stack_text(**details, 1), ";" + std::string(kNoStackName));
}

}  // namespace
}  // namespace ringside::profile
