#include "app/outputs.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

TEST(Outputs, KnowTheirExtensions) {
  using enum OutputFormat;
  const auto format = [](const std::string& path, const std::string& asked = "") {
    return format_of(path, kSvg, asked, {kSvg, kFolded});
  };
  EXPECT_EQ(format("a/b.svg").value(), kSvg);
  EXPECT_EQ(format("b.folded").value(), kFolded);
  EXPECT_EQ(format("b.txt").value(), kFolded);
  EXPECT_EQ(format("a.b/c").value(), kSvg);
  for (const char* foreign : {"b.png", "b.html", "b.jsonl"})
    EXPECT_EQ(format(foreign).error().code, ErrorCode::kUsage) << foreign;
  EXPECT_EQ(format("b.folded", "--format svg").error().code, ErrorCode::kUsage);
  EXPECT_EQ(format("b.png", "--format svg").value(), kSvg);
}

}  // namespace
}  // namespace ringside::app
