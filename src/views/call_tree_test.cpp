#include "views/call_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "profile/profile_test_util.h"

namespace ringside::views {
namespace {

using profile::testing::make_profile;
using profile::testing::TestRecording;

// "name total(self)" with children in brackets.
std::string text_of(const CallTree& tree, std::uint32_t index = 0) {
  const CallTree::Node& node = tree.nodes[index];
  std::string text = fmt::format("{} {}", node.name, node.total);
  if (node.self != 0) text += fmt::format("({})", node.self);
  const std::vector<std::uint32_t> children = tree.children(index);
  if (children.empty()) return text;
  text += "[";
  for (const std::uint32_t child : children)
    text += (text.back() == '[' ? "" : " ") + text_of(tree, child);
  return text + "]";
}

TEST(CallTree, MergedAndSortedByName) {
  const auto profile =
      make_profile({{"s|z", 1, 0}, {"s|a|b", 2, 0}, {"s|a|b", 3, 1}, {"s|a", 4}, {"r", 5}});
  const CallTree tree = make_call_tree(profile);
  EXPECT_EQ(text_of(tree), "all 15[r 5(5) s 10[a 9(4)[b 5(5)] z 1(1)]]");
  EXPECT_EQ(tree.depth, 3u);
}

TEST(CallTree, Reverse) {
  CallTreeOptions options;
  options.reverse = true;
  EXPECT_EQ(text_of(make_call_tree(make_profile({{"s|a|leaf", 1}, {"s|b|leaf", 2}, {"s|b", 4}}),
                                   options)),
            "all 7[b 4[s 4(4)] leaf 3[a 1[s 1(1)] b 2[s 2(2)]]]");
}

TEST(CallTree, PerVcpuAndIdle) {
  TestRecording recording;
  recording.add({"a", 1, 0}).add({"a", 2, 1}).add(wire::Disposition::kIdle, 4, 1);
  const auto profile = recording.profile();
  CallTreeOptions options;
  EXPECT_EQ(text_of(make_call_tree(profile, options)), "all 3[a 3(3)]");
  options.show_idle = true;
  EXPECT_EQ(text_of(make_call_tree(profile, options)), "all 7[[idle] 4(4) a 3(3)]");
  options.per_vcpu = true;
  EXPECT_EQ(text_of(make_call_tree(profile, options)),
            "all 7[vcpu 0 1[a 1(1)] vcpu 1 6[[idle] 4(4) a 2(2)]]");
}

TEST(CallTree, ByOwner) {
  TestRecording recording;
  recording.name(1, 1, "dd").name(2, 2, "dd").name(2, 3, "io");
  recording.add({"a", 1, 0, 1, 1}).add({"a", 2, 0, 2, 2}).add({"a", 4, 1, 2, 3}).add({"b", 8});
  recording.add(wire::Disposition::kIdle, 16, 1);
  const auto profile = recording.profile();
  CallTreeOptions options;
  options.show_idle = true;
  EXPECT_EQ(text_of(make_call_tree(profile, options)),
            "all 31[[idle] 16(16) [unknown] 8[b 8(8)] dd 3[a 3(3)] io 4[a 4(4)]]");
  options.show_idle = false;
  options.by = RootFrame::kPid;
  EXPECT_EQ(text_of(make_call_tree(profile, options)),
            "all 15[[unknown] 8[b 8(8)] dd-1 1[a 1(1)] dd-2 2[a 2(2)] io-2 4[a 4(4)]]");
  options.by = RootFrame::kTid;
  options.per_vcpu = true;
  EXPECT_EQ(text_of(make_call_tree(profile, options)),
            "all 15[vcpu 0 11[[unknown] 8[b 8(8)] dd-1/1 1[a 1(1)] dd-2/2 2[a 2(2)]]"
            " vcpu 1 4[io-2/3 4[a 4(4)]]]");
  options.by = RootFrame::kNone;
  options.per_vcpu = false;
  EXPECT_EQ(text_of(make_call_tree(profile, options)), "all 15[a 7(7) b 8(8)]");
}

TEST(CallTree, InlinedIsWhatWasInlinedInAllOfItsFrames) {
  const auto profile = make_profile({{"s < always", 1}, {"s < both", 2}, {"s|both", 4}});
  const CallTree tree = make_call_tree(profile);
  std::map<std::string, bool> inlined;
  for (const CallTree::Node& node : tree.nodes)
    if (node.depth > 1) inlined.emplace(node.name, node.inlined);
  EXPECT_EQ(inlined, (std::map<std::string, bool>{{"always", true}, {"both", false}}));
}

TEST(CallTree, KindsAreDistinguished) {
  const auto profile = make_profile({{"s|memcpy", 1}, {"s|irq:memcpy", 2}});
  const CallTree tree = make_call_tree(profile);
  EXPECT_EQ(text_of(tree), "all 3[s 3[memcpy 1(1) memcpy 2(2)]]");
  EXPECT_EQ(tree.nodes[3].kind, profile::Kind::kInterrupt);
}

TEST(CallTree, WhatIsCutStaysAccountedFor) {
  CallTreeOptions options;
  options.minimum_share = 0.10;
  const auto profile = make_profile({{"s|a", 90}, {"s|b|c", 9}, {"s|d", 1}});
  const CallTree tree = make_call_tree(profile, options);
  EXPECT_EQ(text_of(tree), "all 100[s 100[a 90(90)]]");
  EXPECT_EQ(tree.nodes[1].hidden, 10u);
  EXPECT_EQ(tree.hidden, 10u);
}

TEST(CallTree, TotalsAddUp) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    TestRecording recording;
    for (int i = 0; i < 30; ++i) {
      std::string stack = "r";
      for (auto depth = random() % 8; depth > 0; --depth)
        stack += "|f" + std::to_string(random() % 3);
      recording.add({stack, random() % 4, static_cast<std::uint16_t>(random() % 2)});
    }
    const auto profile = recording.profile();
    CallTreeOptions options;
    options.reverse = round % 2 == 1;
    options.per_vcpu = round % 3 == 1;
    options.minimum_share = 0.01 * (round % 7);
    const CallTree tree = make_call_tree(profile, options);
    EXPECT_EQ(tree.root().total, profile.weight_of(wire::Disposition::kSampled));
    for (std::uint32_t index = 0; index < tree.nodes.size(); ++index) {
      const CallTree::Node& node = tree.nodes[index];
      profile::Weight sum = node.self + node.hidden;
      for (const std::uint32_t child : tree.children(index)) {
        sum += tree.nodes[child].total;
        EXPECT_EQ(tree.nodes[child].depth, node.depth + 1);
      }
      EXPECT_EQ(sum, node.total);
    }
  }
}

// A node by the names from the root to it; a frame's kind is behind its name.
using Path = std::vector<std::string>;
struct Weights {
  profile::Weight self = 0;
  profile::Weight total = 0;
  profile::Weight hidden = 0;
  bool operator==(const Weights&) const = default;
};

std::map<Path, Weights> weights_of(const CallTree& tree) {
  std::map<Path, Weights> weights;
  Path path;
  for (const CallTree::Node& node : tree.nodes) {
    path.resize(node.depth);
    path.push_back(std::string(node.name) +
                   (node.kind ? " " + std::string(name_of(*node.kind)) : ""));
    weights[path] = {node.self, node.total, node.hidden};
  }
  return weights;
}

// The same by the plainest way.
std::map<Path, Weights> expected_weights(const profile::Profile& profile,
                                         const CallTreeOptions& options) {
  std::map<Path, Weights> all;
  for (const profile::SampleGroup& group : profile.samples) {
    const profile::Owner& owner = profile.owner_of(group);
    const bool idle = owner.disposition == wire::Disposition::kIdle;
    if (!(idle && options.show_idle) && !profile.is_sampled(group)) continue;
    Path path{"all"};
    if (options.per_vcpu) path.push_back(fmt::format("vcpu {}", owner.vcpu.value));
    path.push_back(idle ? "[idle]" : owner_name(profile, owner, options.by));
    if (options.by == RootFrame::kModule && !idle) {
      const profile::FrameId leaf = profile.stacks.frames_of(group.stack).back();
      const auto image = profile.strings[profile.functions[profile.frames[leaf].function].image];
      path.back() = image.empty() ? "[unknown]" : std::string(image);
    }
    if (path.back().empty()) path.pop_back();
    std::vector<profile::FrameId> frames = profile.stacks.frames_of(group.stack);
    if (options.reverse) std::reverse(frames.begin(), frames.end());
    for (const profile::FrameId frame : frames)
      path.push_back(std::string(profile.name(frame)) + " " +
                     std::string(name_of(profile.frames[frame].kind)));
    all[path].self += group.weight;
    for (; !path.empty(); path.pop_back()) all[path].total += group.weight;
  }
  const double minimum = options.minimum_share * static_cast<double>(all[{"all"}].total);
  std::map<Path, Weights> kept;
  for (const auto& [path, weights] : all) {  // a path comes before those that are longer
    const Path parent(path.begin(), path.end() - 1);
    if (!parent.empty() && kept.count(parent) == 0) continue;
    if (static_cast<double>(weights.total) < minimum)
      kept[parent].hidden += weights.total;
    else
      kept[path] = weights;
  }
  return kept;
}

TEST(CallTree, AgreesWithThePlainestWay) {
  std::mt19937 random(6);
  for (int round = 0; round < 40; ++round) {
    TestRecording recording;
    const auto part = [&](const std::string& kind) {
      std::string stack;
      for (auto depth = 1 + random() % 6; depth > 0; --depth) {
        const std::string name = "f" + std::to_string(random() % 4);
        stack += (stack.empty() ? "" : "|") + (random() % 4 == 0 ? "irq:" : kind) + name +
                 (random() % 4 == 0 ? " < f1 < i" : "");
      }
      return stack;
    };
    for (std::uint32_t pid = 1; pid < 4; ++pid)
      if (round % 4 != 0) recording.name(pid, 0, "p" + std::to_string(pid % 2));
    for (int i = 0; i < 60; ++i) {
      profile::testing::Line line{part("")};
      if (random() % 2 == 0) line.stack = part("user:") + " || " + line.stack;
      line.count = random() % 3;
      line.vcpu = static_cast<std::uint16_t>(random() % 2);
      if (round % 4 != 0) line.pid = line.tid = 1 + random() % 3;
      line.weight = random() % 4;
      recording.add(line);
    }
    recording.add(wire::Disposition::kIdle, 7, 1);
    const auto profile = recording.profile();
    CallTreeOptions options;
    options.reverse = round % 2 == 1;
    options.per_vcpu = round % 3 == 1;
    options.show_idle = round % 5 == 1;
    options.by = static_cast<RootFrame>(random() % 5);
    options.minimum_share = 0.01 * (round % 7);
    ASSERT_EQ(weights_of(make_call_tree(profile, options)), expected_weights(profile, options))
        << "round " << round;
  }
}

// One name and kind in two images is one node, of which no single image can be said.
TEST(CallTree, FunctionOfANode) {
  auto profile = make_profile({{"a", 1}, {"user:b", 1}, {"user:c", 1}});
  const auto function = [&](std::string_view name) {
    return std::find_if(profile.functions.begin(), profile.functions.end(),
                        [&](const auto& known) { return profile.strings[known.name] == name; });
  };
  const auto a = function("a");
  const auto c = function("c");
  c->name = function("b")->name;
  c->image = a->image;
  const CallTree tree = make_call_tree(profile);
  EXPECT_EQ(text_of(tree), "all 3[a 1(1) b 2(2)]");
  EXPECT_EQ(tree.root().function, nullptr);
  EXPECT_EQ(tree.nodes[1].function, &*a);
  EXPECT_FALSE(tree.nodes[1].several_functions);
  EXPECT_TRUE(tree.nodes[2].several_functions);
}

}  // namespace
}  // namespace ringside::views
