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

}  // namespace
}  // namespace ringside::app
