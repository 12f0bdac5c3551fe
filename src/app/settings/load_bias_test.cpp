#include "app/settings/load_bias.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

TEST(LoadBias, IsHexadecimalAndMayBeNegative) {
  EXPECT_EQ(parse_load_bias("").value(), std::nullopt);  // to be found out
  EXPECT_EQ(parse_load_bias("0x2d200000").value(), 0x2d200000u);
  EXPECT_EQ(parse_load_bias("-1000").value(), 0 - std::uint64_t{0x1000});
  EXPECT_EQ(parse_load_bias("0xzz").error().code, ErrorCode::kUsage);
}

}  // namespace
}  // namespace ringside::app
