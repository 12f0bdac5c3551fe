#include "app/settings/sampling_settings.h"

#include <gtest/gtest.h>

namespace ringside::app {
namespace {

TEST(SamplingSettings, FrequencyAndIntervalMeanTheSame) {
  SamplingSettings settings;
  EXPECT_EQ(settings.options()->interval_ns, 10'000'000u);
  settings.frequency = 1000;
  EXPECT_EQ(settings.options()->interval_ns, 1'000'000u);
  settings.frequency.reset();
  settings.interval = "200us";
  EXPECT_EQ(settings.options()->interval_ns, 200'000u);
}

}  // namespace
}  // namespace ringside::app
