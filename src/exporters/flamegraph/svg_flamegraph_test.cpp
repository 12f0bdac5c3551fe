#include "exporters/flamegraph/svg_flamegraph.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

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

// Those of the frame with that name: its element, up to the next.
std::string frame_of(const std::string& svg, const std::string& name) {
  const std::size_t start = svg.find(" data-name=\"" + name + "\"");
  if (start == std::string::npos) return {};
  return svg.substr(start, svg.find("</g>", start) - start);
}

std::string hint_of(const std::string& svg, const std::string& name) {
  const std::string frame = frame_of(svg, name);
  const std::size_t start = frame.find("<title>") + 7;
  return frame.substr(start, frame.find("</title>") - start);
}

TEST(Flamegraph, TooltipSaysSelfTimeKindImageAndLines) {
  profile::testing::TestRecording recording;
  recording.add({"start|work", 3})
      .add({"start", 1})
      .add({"start|irq:tick", 2})
      .add({"user:main", 2})
      .add({"[firmware]", 1})
      .add({"?ffffffff81000010", 1});
  for (const auto& [address, names] : recording.namer().names)
    if (names[0] == "start")
      // The leaf's address, and a call's.
      recording.namer().lines[address] = {{"/src/init/main.c", address % 2 == 0 ? 40u : 12u}};
    else if (names[0] == "work")
      recording.namer().lines[address] = {{"work.c", 7}};
  const std::string svg = svg_of(recording.profile());
  expect_well_formed(svg);
  EXPECT_EQ(hint_of(svg, "all"), "all (10 ticks, 100.00%)\nself 0 ticks, 0.00%");
  EXPECT_EQ(hint_of(svg, "start"),
            "start (6 ticks, 60.00%)\nself 1 ticks, 10.00%\nkernel code in kernel, main.c:12-40");
  EXPECT_EQ(hint_of(svg, "work"),
            "work (3 ticks, 30.00%)\nself 3 ticks, 30.00%\nkernel code in kernel, work.c:7");
  EXPECT_EQ(hint_of(svg, "tick"),
            "tick (2 ticks, 20.00%)\nself 2 ticks, 20.00%\ninterrupt code in kernel");
  EXPECT_EQ(hint_of(svg, "main"),
            "main (2 ticks, 20.00%)\nself 2 ticks, 20.00%\nuser code in program");
  EXPECT_EQ(hint_of(svg, "[firmware]"),
            "[firmware] (1 ticks, 10.00%)\nself 1 ticks, 10.00%\nfirmware code");
  EXPECT_EQ(
      hint_of(svg, "&lt;unknown:0xffffffff81000010&gt;"),
      "&lt;unknown:0xffffffff81000010&gt; (1 ticks, 10.00%)\nself 1 ticks, 10.00%\nunknown code");
}

TEST(Flamegraph, LongNamesAreCutInTheMiddle) {
  const auto profile = make_profile({{"std::vector<int, std::allocator<int>>::push_back", 1},
                                     {"<core::iter::Map<I, F> as Iterator>::next", 1},
                                     {"other", 4}});
  FlamegraphOptions options;
  options.width = 1000;
  const std::string svg = svg_of(profile, options);
  // A sixth of 968 pixels: 22 characters.
  EXPECT_TRUE(frame_of(svg, "std::vector&lt;int, std::allocator&lt;int&gt;&gt;::push_back")
                  .ends_with(">std::…::push_back</text>"));
  EXPECT_TRUE(frame_of(svg, "&lt;core::iter::Map&lt;I, F&gt; as Iterator&gt;::next")
                  .ends_with(">&lt;…&gt;::next</text>"));
  EXPECT_TRUE(hint_of(svg, "std::vector&lt;int, std::allocator&lt;int&gt;&gt;::push_back")
                  .starts_with("std::vector&lt;int, std::allocator&lt;int&gt;&gt;::push_back ("));
}

// Frames too narrow for a label have no text element: these would be a tenth of a large picture.
TEST(Flamegraph, NoEmptyLabels) {
  const std::string svg = svg_of(make_profile({{"narrow", 2}, {"wide", 98}}));
  EXPECT_NE(frame_of(svg, "narrow"), "");
  EXPECT_EQ(frame_of(svg, "narrow").find("<text"), std::string::npos);
  EXPECT_NE(frame_of(svg, "wide").find(">wide</text>"), std::string::npos);
}

// The name of a data- attribute as the script's dataset has it.
std::string in_dataset(const std::string& name) {
  std::string key;
  for (std::size_t i = 0; i < name.size(); ++i)
    key += name[i] == '-' ? static_cast<char>(name[++i] - 'a' + 'A') : name[i];
  return key;
}

// Every number that the script reads from the root is there, and every one that is there is read.
TEST(Flamegraph, LayoutIsSaidOnce) {
  const std::string svg = svg_of(make_profile({{"a", 1}}));
  const std::size_t root = svg.find("<svg ");
  const std::string tag = svg.substr(root, svg.find('>', root) - root);
  const std::string script = svg.substr(svg.find("<script>"));
  std::set<std::string> written;
  for (std::size_t at = 0; (at = tag.find(" data-", at)) != std::string::npos;) {
    at += 6;
    const std::string name = in_dataset(tag.substr(at, tag.find('=', at) - at));
    written.insert(name);
    EXPECT_TRUE(script.find("layout('" + name + "')") != std::string::npos ||
                script.find("svg.dataset." + name) != std::string::npos)
        << name;
  }
  EXPECT_EQ(written.size(), 15u);
  for (std::size_t at = 0; (at = script.find("layout('", at)) != std::string::npos;) {
    at += 8;
    const std::string name = script.substr(at, script.find('\'', at) - at);
    EXPECT_TRUE(written.contains(name)) << name;
  }
}

// Programs that draw SVG files into pictures have no variables, and no user with preferences.
TEST(Flamegraph, ColoursAreWrittenOut) {
  const auto profile = make_profile({{"a", 1}});
  const std::string both = svg_of(profile);
  FlamegraphOptions options;
  options.theme = Theme::kLight;
  const std::string light = svg_of(profile, options);
  options.theme = Theme::kDark;
  const std::string dark = svg_of(profile, options);
  for (const std::string& svg : {both, light, dark})
    EXPECT_EQ(svg.find("var(--"), std::string::npos);
  EXPECT_NE(both.find("@media (prefers-color-scheme: dark)"), std::string::npos);
  EXPECT_EQ((light + dark).find("prefers-color-scheme"), std::string::npos);
  EXPECT_NE(light, dark);
}

TEST(Flamegraph, TitleHasKernelAndDay) {
  const auto title_of_svg = [](const std::string& svg) {
    const std::size_t start = svg.find("<title>") + 7;
    return svg.substr(start, svg.find("</title>") - start);
  };
  auto profile = make_profile({{"a", 1}});
  EXPECT_EQ(title_of_svg(svg_of(profile)), "Flame graph · Linux 6.1 · 2023-11-14");
  profile.header.kernel_release = "6.1.0-9<b>";
  EXPECT_EQ(title_of_svg(svg_of(profile)), "Flame graph · 6.1.0-9&lt;b&gt; · 2023-11-14");
  FlamegraphOptions options;
  options.title = "fixed";
  EXPECT_EQ(title_of_svg(svg_of(profile, options)), "fixed");
  profile.header = {};
  EXPECT_EQ(title_of_svg(svg_of(profile)), "Flame graph");
}

TEST(Flamegraph, IcicleHasItsRootsAtTheTop) {
  const auto top_of = [](const std::string& svg, const std::string& name) {
    const std::string frame = frame_of(svg, name);
    return std::atoi(frame.c_str() + frame.find(" y=\"") + 4);
  };
  const auto profile = make_profile({{"a|b", 1}});
  FlamegraphOptions options;
  const std::string flame = svg_of(profile, options);
  options.icicle = true;
  const std::string icicle = svg_of(profile, options);
  EXPECT_EQ(top_of(flame, "all") - top_of(flame, "b"), 38);
  EXPECT_EQ(top_of(icicle, "b") - top_of(icicle, "all"), 38);
  EXPECT_EQ(top_of(icicle, "all"), top_of(flame, "b"));
  EXPECT_NE(flame.find("data-roots=\"bottom\""), std::string::npos);
  EXPECT_NE(icicle.find("data-roots=\"top\""), std::string::npos);
}

TEST(Flamegraph, BytesAreGreen) {
  auto profile = make_profile({{"a", 1}});
  const std::string ticks = svg_of(profile);
  FlamegraphOptions options;
  options.colors = FrameColoring::kMemory;
  const std::string green = svg_of(profile, options);
  EXPECT_NE(green, ticks);
  const auto style = [](const std::string& svg) { return svg.substr(0, svg.find("</style>")); };
  profile.unit = recording::WeightUnit::kBytes;
  EXPECT_EQ(style(svg_of(profile)), style(green));
  options.colors = FrameColoring::kKind;
  EXPECT_EQ(style(svg_of(profile, options)), style(ticks));
}

TEST(Flamegraph, IdenticalInputGivesIdenticalBytes) {
  const auto text = [] { return svg_of(make_profile({{"a|b", 2}, {"a|c", 1}, {"user:d", 1}})); };
  EXPECT_EQ(text(), text());
}

}  // namespace
}  // namespace ringside::exporters
