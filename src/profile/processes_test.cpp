#include <gtest/gtest.h>

#include "profile/profile_test_util.h"
#include "profile/thread_names.h"

// Whose time it was: names of threads, filters by process, stacks of two parts, interrupts.
namespace ringside::profile {
namespace {

using testing::TestRecording;
using testing::text_of;

using Weights = std::map<std::string, std::uint64_t>;

// "comm pid/tid STACK" of the sampled groups; a number that is not known is "-".
Weights groups_of(const Profile& profile) {
  const auto text = [](const auto& number) { return number ? std::to_string(*number) : "-"; };
  Weights weights;
  for (const SampleGroup& group : profile.samples)
    if (const Owner& owner = profile.owner_of(group); profile.is_sampled(group))
      weights[std::string(profile.strings[owner.comm]) + " " + text(owner.pid) + "/" +
              text(owner.tid) + " " + text_of(profile, group.stack)] += group.weight;
  return weights;
}

TEST(Processes, AreCalledWhatTheyWereCalledAtTheTime) {
  TestRecording recording;
  recording.name(7, 7, "sh").add({"user:a", 1, 0, 7, 7});
  recording.name(7, 7, "dd").add({"user:a", 2, 0, 7, 7}).add({"b", 4, 1, 7, 7});  // exec
  recording.name(7, 8, "worker").add({"user:a", 8, 0, 7, 8}).add({"user:a", 16, 0, 7, 7});
  EXPECT_EQ(groups_of(recording.profile()),
            (Weights{{"sh 7/7 a", 1}, {"dd 7/7 a", 18}, {"dd 7/7 b", 4}, {"worker 7/8 a", 8}}));
  EXPECT_TRUE(recording.profile().knows_processes);
}

TEST(Processes, AThreadHasALastName) {
  TestRecording recording;
  recording.name(7, 7, "sh").name(7, 8, "io").add({"user:a", 1, 0, 7, 8}).add({"b", 1, 0, 9, 9});
  recording.name(7, 7, "dd");  // exec
  const Profile profile = recording.profile();
  using Names = std::map<std::pair<std::uint32_t, std::uint32_t>, std::string>;
  Names names;
  for (const auto& [thread, name] : profile.last_names) names[thread] = profile.strings[name];
  EXPECT_EQ(names, (Names{{{7, 7}, "dd"}, {{7, 8}, "io"}, {{9, 9}, ":9"}}));
}

TEST(Processes, ThatNumberTheirThreadsHaveNamesForEach) {
  TestRecording recording("generic");
  recording.name(1, 1, "a").name(2, 1, "b").add({"f", 1, 0, 1, 1}).add({"f", 1, 0, 2, 1});
  const Profile profile = recording.profile();
  EXPECT_EQ(profile.strings[profile.last_names.at({1, 1})], "a");
  EXPECT_EQ(profile.strings[profile.last_names.at({2, 1})], "b");
}

TEST(Processes, AreCalledAsAThreadWhereTheMainThreadHasNoName) {
  TestRecording recording;
  recording.name(7, 9, "late").name(7, 8, "io").name(5, 5, "sh").name(5, 6, "job");
  recording.add({"f", 1, 0, 7, 9}).add({"f", 1, 0, 7, 8}).add({"f", 1, 0, 5, 6});
  recording.add({"f", 1, 0, 4, 4});
  const Profile profile = recording.profile();
  const auto name = [&](std::uint32_t pid) {
    return profile.strings[profile.last_name_of_process(pid).value()];
  };
  EXPECT_EQ(name(7), "io");
  EXPECT_EQ(name(5), "sh");
  EXPECT_EQ(name(4), ":4");
  EXPECT_FALSE(profile.last_name_of_process(6));
}

TEST(Processes, ANameOfTheWholeProcessIsTheThreadsUntilItHasItsOwn) {
  TestRecording recording;
  recording.name(7, 0, "server").add({"a", 1, 0, 7, 9}).add({"a", 2, 0, 7, {}});
  recording.name(7, 9, "io").add({"a", 4, 0, 7, 9});
  recording.name(7, 0, "another").add({"a", 8, 0, 7, 9});  // the pid was used again
  EXPECT_EQ(
      groups_of(recording.profile()),
      (Weights{{"server 7/9 a", 1}, {"server 7/- a", 2}, {"io 7/9 a", 4}, {"another 7/9 a", 8}}));
}

TEST(Processes, NamesHoldFromTheirTimeOnWhateverTheirOrder) {
  StringTable strings;
  ThreadNames names(strings);
  for (const std::uint64_t time : {30, 10, 20, 10})
    names.add({.time_ns = time, .pid = 1, .tid = 1, .name = "from " + std::to_string(time)});
  const auto at = [&](std::uint64_t time) {
    return std::string(strings[names.at(time, 1, 1).comm]);
  };
  EXPECT_EQ(at(9), "");
  EXPECT_EQ(at(10), "from 10");
  EXPECT_EQ(at(29), "from 20");
  EXPECT_EQ(at(1000), "from 30");
}

TEST(Processes, AControlGroupHoldsFromItsTimeOn) {
  TestRecording recording;
  recording.name(7, 7, "dd", "/a").add({"f", 1, 0, 7, 7}).name(7, 7, "dd", "/b;c");
  recording.add({"f", 2, 0, 7, 7}).name(7, 7, "sh").add({"f", 4, 0, 7, 7});
  const Profile profile = recording.profile();
  std::map<std::string, std::uint64_t> weights;
  for (const SampleGroup& group : profile.samples)
    weights[std::string(profile.strings[profile.owner_of(group).cgroup])] += group.weight;
  EXPECT_EQ(weights, (std::map<std::string, std::uint64_t>{{"/a", 1}, {"/b:c", 2}, {"", 4}}));
}

TEST(Processes, WithoutANameAreNumbers) {
  TestRecording recording("emerald");
  recording.add({"a", 1, 0, 7, 9}).add({"a", 2, 0, 0, {}}).add({"a", 4});
  recording.name(7, 9, "late").name(3, 3, "").add({"a", 8, 0, 3, 3});
  EXPECT_EQ(groups_of(recording.profile()),
            (Weights{{":9 7/9 a", 1}, {":0 0/- a", 2}, {"[unknown] -/- a", 4}, {":3 3/3 a", 8}}));
}

TEST(Processes, ALoneOneWithoutANameShowsNothing) {
  TestRecording recording("generic");
  recording.add({"boot", 1}).name(1, 1, "[process 1]").add({"a", 2, 0, 1, 1});
  recording.add({"b", 4, 1, 1, 1}).add(wire::Disposition::kIdle, 8, 0);
  const Profile alone = recording.profile();
  EXPECT_FALSE(alone.knows_processes);
  EXPECT_EQ(groups_of(alone), (Weights{{" -/- boot", 1}, {" -/- a", 2}, {" -/- b", 4}}));
}

TEST(Processes, TheKernelsOwnThreadsDistinguishOne) {
  TestRecording recording("generic");
  recording.add({"boot", 1}).name(1, 1, "[process 1]").add({"a", 2, 0, 1, 1}).add({"thread", 4});
  EXPECT_EQ(
      groups_of(recording.profile()),
      (Weights{{"[unknown] -/- boot", 1}, {"[process 1] 1/1 a", 2}, {"[unknown] -/- thread", 4}}));
}

TEST(Processes, ALoneOneWithANameIsShown) {
  TestRecording recording("generic");
  recording.name(1, 1, "shell.elf").add({"a", 2, 0, 1, 1});
  EXPECT_EQ(groups_of(recording.profile()), (Weights{{"shell.elf 1/1 a", 2}}));
}

TEST(Processes, LinuxIdleThreadsAreSwapper) {
  TestRecording recording;
  recording.name(0, 0, "swapper/1").add({"do_idle", 1, 0, 0, 0});
  EXPECT_EQ(groups_of(recording.profile()), (Weights{{"swapper 0/0 do_idle", 1}}));
}

TEST(Processes, ThatNobodyKnowsHaveNoName) {
  TestRecording recording;
  recording.add({"a", 1});
  EXPECT_EQ(groups_of(recording.profile()), (Weights{{" -/- a", 1}}));
  EXPECT_FALSE(recording.profile().knows_processes);
}

TEST(Processes, NamesAreSanitized) {
  TestRecording recording;
  recording.name(1, 1, "a;b\n").add({"f", 1, 0, 1, 1});
  EXPECT_EQ(groups_of(recording.profile()), (Weights{{"a:b  1/1 f", 1}}));
}

TEST(Processes, Filters) {
  TestRecording recording;
  recording.name(1, 1, "sh").name(2, 2, "dd").name(2, 3, "dd");
  recording.add({"a", 1, 0, 1, 1}).add({"a", 2, 0, 2, 2}).add({"a", 4, 0, 2, 3}).add({"a", 8});
  recording.add(wire::Disposition::kIdle, 16, 0);
  const auto kept = [&](auto set) {
    BuildOptions options;
    set(options.filter);
    const Profile profile = recording.profile(options);
    EXPECT_TRUE(profile.knows_processes);
    const std::uint64_t sampled = profile.weight_of(wire::Disposition::kSampled);
    EXPECT_EQ(profile.weight_of(wire::Disposition::kIdle), 16u);
    EXPECT_EQ(profile.filtered_weight, 15 - sampled);
    EXPECT_EQ(profile.filtered_samples, 15 - sampled);
    EXPECT_EQ(profile.unique_stacks, sampled == 0 ? 0u : 1u);
    return sampled;
  };
  EXPECT_EQ(kept([](Filter& f) { f.comms = {"dd"}; }), 6u);
  EXPECT_EQ(kept([](Filter& f) { f.comms = {"sh", "[unknown]"}; }), 9u);
  EXPECT_EQ(kept([](Filter& f) { f.pids = {2}; }), 6u);
  EXPECT_EQ(kept([](Filter& f) { f.tids = {1, 3}; }), 5u);
  EXPECT_EQ(kept([](Filter& f) { f.pids = {2}, f.tids = {1, 3}; }), 4u);
  EXPECT_EQ(kept([](Filter& f) { f.comms = {"none"}; }), 0u);
}

TEST(Processes, AStackOfTwoPartsSaysWhereUserCodeEnds) {
  TestRecording recording;
  recording.add({"user:main|user:read || sys_read|copy", 1, 0, 1, 1})
      .add({"user:main", 2, 0, 1, 1});
  const Profile profile = recording.profile();
  std::map<std::string, std::string> user_parts;
  for (const SampleGroup& group : profile.samples)
    user_parts[text_of(profile, group.stack)] = text_of(profile, group.user_part);
  EXPECT_EQ(user_parts, (std::map<std::string, std::string>{
                            {"main;read;sys_read;copy", "main;read"}, {"main", ""}}));
}

TEST(Processes, UserCodeOutsideEveryImageHasAnAddressWhereItsMappingsAreKnown) {
  TestRecording recording;
  recording.add({"[user]", 1, 0, 1, 1, 5}).add({"[user]", 2, 0, 1, 1}).add({"[user]", 4});
  EXPECT_EQ(groups_of(recording.profile()), (Weights{{":1 1/1 <unknown:0x70000000>", 1},
                                                     {":1 1/1 [user]", 2},
                                                     {"[unknown] -/- [user]", 4}}));
}

TEST(Interrupts, NotJoinedAreChargedToNobody) {
  TestRecording recording;
  recording.name(1, 1, "sh").name(2, 2, "dd");
  recording.add({"user:main || sys_read|irq:timer|irq:tick", 1, 0, 1, 1})
      .add({"user:main || sys_write|irq:timer|irq:tick", 2, 0, 2, 2})
      .add({"start|irq:timer|fault|irq:nmi", 4})  // one interrupt in another
      .add({"user:main || sys_read", 8, 0, 1, 1});
  BuildOptions apart;
  apart.join_interrupts = false;
  EXPECT_EQ(groups_of(recording.profile(apart)), (Weights{{"[irq] -/- timer;tick", 3},
                                                          {"[irq] -/- timer;fault;nmi", 4},
                                                          {"sh 1/1 main;sys_read", 8}}));
  apart.filter.comms = {"sh"};
  EXPECT_EQ(groups_of(recording.profile(apart)), (Weights{{"sh 1/1 main;sys_read", 8}}));
  EXPECT_EQ(recording.profile(apart).filtered_weight, 7u);
  apart.filter.comms = {"[irq]"};
  EXPECT_EQ(recording.profile(apart).weight_of(wire::Disposition::kSampled), 7u);
  const Weights joined = groups_of(recording.profile());
  EXPECT_EQ(joined.at("dd 2/2 main;sys_write;timer;tick"), 2u);
  EXPECT_EQ(joined.at("[unknown] -/- start;timer;fault;nmi"), 4u);
}

TEST(Interrupts, WithoutProcessesAreOnlyCutOff) {
  TestRecording recording;
  recording.add({"start|irq:timer|irq:tick", 1});
  BuildOptions apart;
  apart.join_interrupts = false;
  EXPECT_EQ(groups_of(recording.profile(apart)), (Weights{{" -/- timer;tick", 1}}));
}

}  // namespace
}  // namespace ringside::profile
