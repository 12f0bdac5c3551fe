#include "exporters/flamegraph/narrow_frames.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "exporters/exporters_test_util.h"
#include "exporters/flamegraph/svg_flamegraph.h"
#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

using profile::testing::make_profile;

std::string svg_of(const profile::Profile& profile, double minimum_width = 0) {
  FlamegraphOptions options;
  options.by = views::RootFrame::kNone;
  options.minimum_width = minimum_width;
  return testing::text_of([&](Sink& sink) { return write_flamegraph(profile, options, sink); });
}

std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  std::size_t start = text.find(begin);
  if (start == std::string::npos) return {};
  start += begin.size();
  return text.substr(start, text.find(end, start) - start);
}

std::string block_of(const std::string& svg) {
  std::string block = between(svg, "<metadata id=\"narrow\">", "</metadata>");
  for (const auto& [entity, character] : {std::pair("&quot;", '"'), std::pair("&lt;", '<'),
                                          std::pair("&gt;", '>'), std::pair("&amp;", '&')})
    for (std::size_t at; (at = block.find(entity)) != std::string::npos;)
      block.replace(at, std::string_view(entity).size(), 1, character);
  return block;
}

// 1,168 pixels for 1,168 ticks.
TEST(NarrowFrames, AreNumbersBetweenTheFramesOfThePage) {
  const std::string svg = svg_of(make_profile(
      {{"a|b", 12}, {"a|c<d>", 1}, {"a|wide", 1000}, {"user:main", 5}, {"z", 148}, {"z|b", 2}}));
  const auto block = nlohmann::json::parse(block_of(svg));
  // "all" and "a"; b and c<d> on "a"; "wide"; main; "z"; b on "z".
  EXPECT_EQ(block["frames"].dump(), "[-2,2,12,0,1,2,2,1,3,4,5,-1,1,5,6,7,8,-1,2,2,0,1,9]");
  const auto& texts = block["texts"];
  EXPECT_EQ(texts[1], "b");
  EXPECT_EQ(texts[2], " (12 ticks, 1.03%)\nself 12 ticks, 1.03%\nkernel code in kernel");
  EXPECT_EQ(texts[4], "c<d>");
  EXPECT_EQ(texts[8], " (5 ticks, 0.43%)\nself 5 ticks, 0.43%\nuser code in program");
  EXPECT_EQ(texts.size(), 10u);
  EXPECT_EQ(svg.find("data-name=\"b\""), std::string::npos);
}

TEST(NarrowFrames, OfAPixelArePartsOfAPath) {
  const std::string svg = svg_of(make_profile({{"a|b", 2}, {"a|wide", 11678}}));
  EXPECT_EQ(between(svg, "<g id=\"thin\" aria-hidden=\"true\">\n", "</g>"), "");
  const std::string other = svg_of(make_profile({{"a|b", 12}, {"a|wide", 1156}}));
  EXPECT_NE(other.find("d=\"M16.00 112h11.60v18h-11.60z\""), std::string::npos);
}

TEST(NarrowFrames, NoneIsNoBlock) {
  EXPECT_EQ(svg_of(make_profile({{"a|b", 1}})).find("<metadata"), std::string::npos);
  EXPECT_EQ(svg_of(make_profile({})).find("<metadata"), std::string::npos);
}

TEST(NarrowFrames, LeftOutFramesAreNotThere) {
  const auto profile = make_profile({{"a|b", 2}, {"a|wide", 11678}});
  EXPECT_NE(svg_of(profile, 0.1).find("<metadata"), std::string::npos);
  EXPECT_EQ(svg_of(profile, 0.3).find("<metadata"), std::string::npos);
}

}  // namespace
}  // namespace ringside::exporters
