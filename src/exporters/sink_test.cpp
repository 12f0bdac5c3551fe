#include "exporters/sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording/recording_test_util.h"

namespace ringside::exporters {
namespace {

using recording::testing::slurp;
using recording::testing::TempDir;
using ::testing::HasSubstr;

TEST(FileSink, AppearsWholeOrNotAtAll) {
  TempDir dir;
  const std::string path = (dir / "x.svg").string();
  {
    auto sink = FileSink::create(path);
    ASSERT_TRUE(sink);
    ASSERT_TRUE(sink->write("half"));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  auto sink = FileSink::create(path);
  ASSERT_TRUE(sink);
  ASSERT_TRUE(sink->write("who"));
  ASSERT_TRUE(sink->write("le"));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(slurp(path), "whole");
}

TEST(FileSink, HoldsNothingThatDrivesATerminal) {
  TempDir dir;
  const std::string path = (dir / "x.folded").string();
  auto sink = FileSink::create(path);
  ASSERT_TRUE(sink);
  for (const char* piece : {"a\x1b[31m;b\xe2\x82", "\xac 1\n\xc2", "\x9bm 2\n\xe2"})
    ASSERT_TRUE(sink->write(piece));
  ASSERT_TRUE(sink->commit());
  EXPECT_EQ(slurp(path), "a [31m;b\xe2\x82\xac 1\n\xef\xbf\xbd\xef\xbf\xbdm 2\n\xef\xbf\xbd");
}

TEST(FileSink, ColoursAreItsOwnAndOnlyWhereTheyAreWanted) {
  TempDir dir;
  const auto written = [&](const char* name, bool colours) {
    auto sink = FileSink::create((dir / name).string());
    EXPECT_TRUE(sink);
    if (colours) sink->use_colours();
    EXPECT_TRUE(sink->write("\x1b[32mx\xe2"));
    EXPECT_TRUE(sink->paint("7\x1b[0m%", Colour::kRed));
    EXPECT_TRUE(sink->paint("1%", Colour::kGreen));
    EXPECT_TRUE(sink->write("\n"));
    EXPECT_TRUE(sink->commit());
    return slurp((dir / name).string());
  };
  EXPECT_EQ(written("plain", false),
            " [32mx\xef\xbf\xbd"
            "7 [0m%1%\n");
  EXPECT_EQ(written("coloured", true), " [32mx\xef\xbf\xbd\x1b[31m7 [0m%\x1b[m\x1b[32m1%\x1b[m\n");
}

TEST(FileSink, AFullDiskNamesTheFile) {
  auto sink = FileSink::create("/dev/full");
  ASSERT_TRUE(sink);
  ASSERT_TRUE(sink->write("x"));
  const auto result = sink->commit();
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("/dev/full"));
  EXPECT_THAT(result.error().message, HasSubstr("No space left"));
}

TEST(FileSink, AFolderThatIsNotThere) {
  const auto sink = FileSink::create("/nonexistent/x.svg");
  ASSERT_FALSE(sink);
  EXPECT_THAT(sink.error().message, HasSubstr("/nonexistent/x.svg"));
}

}  // namespace
}  // namespace ringside::exporters
