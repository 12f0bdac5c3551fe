#include "exporters/svg_flamegraph.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "exporters/xml.h"
#include "profile/profile_test_util.h"

namespace ringside::exporters {
namespace {

using profile::testing::make_profile;

std::string svg_of(const profile::Profile& profile, const FlamegraphOptions& options = {}) {
  StringSink sink;
  EXPECT_TRUE(write_flamegraph(profile, options, sink));
  return sink.text();
}

// A parser of its own checks the text; python3 is there wherever the tests run.
void expect_well_formed(const std::string& svg) {
  recording::testing::TempDir dir;
  const std::string path = (dir / "x.svg").string();
  std::ofstream(path, std::ios::binary) << svg;
  const std::string command =
      "python3 -c 'import sys, xml.dom.minidom as m; m.parse(sys.argv[1])' " + path;
  EXPECT_EQ(std::system(command.c_str()), 0) << svg.substr(0, 2000);
}

TEST(Flamegraph, HostileNamesStayWellFormed) {
  const auto profile = make_profile({{"a<b>&\"c\"'d'|]]>|<!--|&amp;", 5},
                                     {"tab\there|\x01\x02|\xff\xfe|\xed\xa0\x80", 5},
                                     {"größe|\xf0\x9f\x94\xa5|\xef\xbf\xbf", 5}});
  FlamegraphOptions options;
  options.title = "]]> <x> & \"\x03\xff";
  options.subtitle = "</text>";
  const std::string svg = svg_of(profile, options);
  expect_well_formed(svg);
  EXPECT_NE(svg.find("data-name=\"a&lt;b&gt;&amp;&quot;c&quot;&#39;d&#39;\""), std::string::npos);
}

TEST(Flamegraph, EmptyProfileSaysSo) {
  const std::string svg = svg_of(make_profile({}));
  expect_well_formed(svg);
  EXPECT_NE(svg.find("No samples"), std::string::npos);
  EXPECT_EQ(svg.find("class=\"frame"), std::string::npos);
}

TEST(Flamegraph, DeepRecursion) {
  std::string stack = "f";
  for (int i = 0; i < 500; ++i) stack += "|f";
  expect_well_formed(svg_of(make_profile({{stack, 1}})));
}

TEST(Flamegraph, HasWhatTheScriptNeeds) {
  const std::string svg = svg_of(make_profile({{"a|b", 1}}));
  for (const char* id : {"ringside", "reset", "search", "search-input", "matched", "details"})
    EXPECT_NE(svg.find("id=\"" + std::string(id) + "\""), std::string::npos) << id;
}

TEST(Xml, ShortenCountsCharacters) {
  EXPECT_EQ(shorten("größe", 5), "größe");
  EXPECT_EQ(shorten("größe", 4), "grö\xe2\x80\xa6");
  EXPECT_EQ(shorten("größe", 1), "\xe2\x80\xa6");
  EXPECT_EQ(shorten("größe", 0), "");
}

}  // namespace
}  // namespace ringside::exporters
