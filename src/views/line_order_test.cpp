#include "views/line_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "profile/profile_test_util.h"
#include "profile/sanitize.h"

namespace ringside::views {
namespace {

using profile::Profile;
using profile::testing::TestRecording;

std::string line_of(const Profile& profile, profile::NodeId leaf) {
  std::string line;
  for (const profile::FrameId frame : profile.stacks.frames_of(leaf))
    line += (line.empty() ? "" : ";") + std::string(profile.name(frame));
  return leaf == profile::kNoNode ? std::string(profile::kIdleName) : line;
}

// Lines in the order of their places are in the order of their bytes, and equal lines share one.
void expect_sorted(const Profile& profile) {
  const LineOrder order(profile);
  std::vector<std::pair<std::uint32_t, std::string>> lines;
  for (profile::NodeId node = 0; node < profile.stacks.size(); ++node)
    lines.emplace_back(order.place(node), line_of(profile, node));
  std::sort(lines.begin(), lines.end());
  for (std::size_t i = 1; i < lines.size(); ++i) {
    EXPECT_LE(lines[i - 1].second, lines[i].second);
    EXPECT_EQ(lines[i - 1].first == lines[i].first, lines[i - 1].second == lines[i].second)
        << lines[i].second;
  }
}

TEST(LineOrder, IsThatOfTheLinesBytes) {
  // Characters on both sides of ';', and names that begin with others.
  const std::vector<std::string> names = {"a", "a b",    "a(", "a<b>", "ab",
                                          "b", "[idle]", "_",  "a+1"};
  std::mt19937 random(1);  // NOLINT: the same names each time
  TestRecording recording;
  for (int i = 0; i < 300; ++i) {
    std::string stack;
    const std::size_t depth = 1 + random() % 4;
    for (std::size_t frame = 0; frame < depth; ++frame)
      stack += (frame == 0 ? "" : "|") + std::string(random() % 2 == 0 ? "" : "irq:") +
               names[random() % names.size()];
    recording.add({stack});
  }
  expect_sorted(recording.profile());
}

TEST(LineOrder, OfNothing) { expect_sorted(Profile()); }

}  // namespace
}  // namespace ringside::views
