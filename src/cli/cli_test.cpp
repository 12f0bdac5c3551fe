#include <gtest/gtest.h>

#include "cli/cpu_list.h"
#include "cli/outputs.h"
#include "cli/sampling_flags.h"

namespace ringside::cli {
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

TEST(SamplingFlags, FrequencyAndIntervalMeanTheSame) {
  SamplingFlags flags;
  EXPECT_EQ(flags.options()->interval_ns, 10'000'000u);
  flags.frequency = 1000;
  EXPECT_EQ(flags.options()->interval_ns, 1'000'000u);
  flags.frequency.reset();
  flags.interval_ms = 0.2;
  EXPECT_EQ(flags.options()->interval_ns, 200'000u);
}

TEST(SamplingFlags, LoadBiasIsHexadecimalAndMayBeNegative) {
  SamplingFlags flags;
  const auto value = [&] { return flags.load_bias_value().value(); };
  EXPECT_EQ(value(), std::nullopt);  // to be found out
  flags.load_bias = "0x2d200000";
  EXPECT_EQ(value(), 0x2d200000u);
  flags.load_bias = "-1000";
  EXPECT_EQ(value(), 0 - std::uint64_t{0x1000});
  flags.load_bias = "0xzz";
  EXPECT_EQ(flags.load_bias_value().error().code, ErrorCode::kUsage);
}

TEST(Outputs, KnowTheirExtensions) {
  EXPECT_TRUE(check_extension("a/b.svg"));
  EXPECT_TRUE(check_extension("b.folded"));
  EXPECT_FALSE(check_extension("b.txt"));
}

}  // namespace
}  // namespace ringside::cli
