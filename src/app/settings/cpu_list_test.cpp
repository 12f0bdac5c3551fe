#include "app/settings/cpu_list.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

std::vector<unsigned> cpus(const std::string& text) {
  std::vector<unsigned> result;
  const auto list = parse_cpu_list(text);
  if (!list) return {9999};
  for (const VcpuId id : *list) result.push_back(id.value);
  return result;
}

TEST(CpuList, TakesPerfsForm) {
  EXPECT_EQ(cpus("0"), (std::vector<unsigned>{0}));
  EXPECT_EQ(cpus("0,2-4"), (std::vector<unsigned>{0, 2, 3, 4}));
  for (const char* wrong : {"", "a", "1-", "3-1", "1,", "-1", "1 2", "99999"})
    EXPECT_EQ(cpus(wrong), (std::vector<unsigned>{9999})) << wrong;
}

std::vector<unsigned> masked(const std::string& text) {
  std::vector<unsigned> result;
  const auto list = parse_cpu_mask(text);
  if (!list) return {9999};
  for (const VcpuId id : *list) result.push_back(id.value);
  return result;
}

TEST(CpuMask, HasABitOfEachVcpu) {
  EXPECT_EQ(masked("1"), (std::vector<unsigned>{0}));
  EXPECT_EQ(masked("5"), (std::vector<unsigned>{0, 2}));
  EXPECT_EQ(masked("0x5"), (std::vector<unsigned>{0, 2}));
  EXPECT_EQ(masked("0xA0"), (std::vector<unsigned>{5, 7}));
  EXPECT_EQ(masked("18446744073709551616"), (std::vector<unsigned>{64}));  // 2^64
  // 2^128 - 1, Asterinas' default, and one more.
  EXPECT_EQ(masked("340282366920938463463374607431768211455").size(), 128u);
  EXPECT_EQ(masked("0xffffffffffffffffffffffffffffffff").size(), 128u);
  for (const char* wrong :
       {"", "0", "0x", "0x0", "-1", "a", "0xg", "1 ", "340282366920938463463374607431768211456",
        "0x1ffffffffffffffffffffffffffffffff"})
    EXPECT_EQ(masked(wrong), (std::vector<unsigned>{9999})) << wrong;
}

}  // namespace
}  // namespace ringside::app
