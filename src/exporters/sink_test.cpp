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
