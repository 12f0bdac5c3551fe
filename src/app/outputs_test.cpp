#include "app/outputs.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

TEST(Outputs, KnowTheirExtensions) {
  const exporters::Format* const svg = exporters::format_named("svg");
  const exporters::Format* const folded = exporters::format_named("folded");
  const auto format = [](const std::string& path, const std::string& asked = "") {
    return format_of(path, "svg", asked, {"svg", "folded"});
  };
  EXPECT_EQ(format("a/b.svg").value(), svg);
  EXPECT_EQ(format("b.folded").value(), folded);
  EXPECT_EQ(format("b.txt").value(), folded);
  EXPECT_EQ(format("a.b/c").value(), svg);
  EXPECT_EQ(format("a/.svg").value(), svg);  // a name without an extension
  EXPECT_EQ(format_of("a.b.pb.gz", "folded", "", {}).value(), exporters::format_named("pprof"));
  for (const char* foreign : {"b.png", "b.html", "b.jsonl"})
    EXPECT_EQ(format(foreign).error().code, ErrorCode::kUsage) << foreign;
  EXPECT_EQ(format("b.folded", "--format svg").error().code, ErrorCode::kUsage);
  EXPECT_EQ(format("b.png", "--format svg").value(), svg);
}

}  // namespace
}  // namespace ringside::app
