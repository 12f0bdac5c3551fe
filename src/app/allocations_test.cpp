#include "app/allocations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside::app {
namespace {

using ::testing::ElementsAre;

TEST(PictureNames, AreNamesOfFiles) {
  EXPECT_THAT(
      picture_names({"malloc", "../a b", "x\\y:z", "[unnamed]"}),
      ElementsAre("mem-malloc.svg", "mem-.._a_b.svg", "mem-x_y_z.svg", "mem-[unnamed].svg"));
}

TEST(PictureNames, AreOfOneAllocatorEach) {
  EXPECT_THAT(picture_names({"a/b", "a:b", "a_b", "a_b-2", "a_b-2"}),
              ElementsAre("mem-a_b.svg", "mem-a_b-2.svg", "mem-a_b-3.svg", "mem-a_b-2-2.svg",
                          "mem-a_b-2-3.svg"));
}

// A file's name has at most 255 bytes, and no part of a character.
TEST(PictureNames, AreShort) {
  std::string name = "x";
  for (int n = 0; n < 250; ++n) name += "\xef\xbf\xbd";
  const std::string cut = picture_names({name}).front();
  EXPECT_LE(cut.size(), 210u);
  EXPECT_EQ(cut, "mem-" + name.substr(0, 199) + ".svg");
}

}  // namespace
}  // namespace ringside::app
