#include "disk_image/image_name.h"

#include <gtest/gtest.h>

#include <set>

namespace ringside::disk_image {
namespace {

Result<ImageName> parse(const std::string& text, const std::set<std::string>& files) {
  return parse_image_name(text, [&](const std::string& path) { return files.contains(path); });
}

TEST(ImageName, HasAPartitionBehindItsLastColon) {
  EXPECT_EQ(parse("d.img", {"d.img"}).value(), (ImageName{"d.img", std::nullopt}));
  EXPECT_EQ(parse("d.img:2", {"d.img"}).value(), (ImageName{"d.img", 2}));
  EXPECT_EQ(parse("a:b:15", {"a", "a:b"}).value(), (ImageName{"a:b", 15}));
}

TEST(ImageName, IsTheWholeTextWhereThatIsAFile) {
  EXPECT_EQ(parse("d:2", {"d", "d:2"}).value(), (ImageName{"d:2", std::nullopt}));
  EXPECT_EQ(parse("d:2:3", {"d", "d:2"}).value(), (ImageName{"d:2", 3}));
}

TEST(ImageName, RefusesWhatIsNoNumberOfAPartition) {
  for (const char* text : {"d:0", "d:", "d:x", "d:-1", "d:1 ", "d:99999999999"})
    EXPECT_EQ(parse(text, {"d"}).error().code, ErrorCode::kUsage) << text;
  EXPECT_EQ(parse("", {}).error().code, ErrorCode::kUsage);
}

TEST(ImageName, OfAnImageThatIsNotThereIsAnError) {
  EXPECT_EQ(parse("d", {}).error().code, ErrorCode::kNotFound);
  EXPECT_NE(parse("d:3", {}).error().message.find("d: "), std::string::npos);
}

}  // namespace
}  // namespace ringside::disk_image
