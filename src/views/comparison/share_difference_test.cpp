#include "views/comparison/share_difference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace ringside::views {
namespace {

// By sample: whether it is of the function.
using Samples = std::vector<bool>;

// As many samples as `is_in` is asked for, by their number.
Samples samples_of(std::size_t count, const std::function<bool(std::size_t)>& is_in) {
  Samples samples(count);
  for (std::size_t i = 0; i < count; ++i) samples[i] = is_in(i);
  return samples;
}

struct Series {
  Series(const Samples& samples, std::size_t blocks) : part(blocks), whole(blocks) {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const std::size_t block = i * blocks / samples.size();
      whole[block] += 1;
      part[block] += samples[i] ? 1.0F : 0.0F;
    }
  }
  [[nodiscard]] Blocks blocks() const { return {whole, 1}; }
  std::vector<float> part;
  std::vector<double> whole;
};

ShareDifference compared(const Samples& before, const Samples& after) {
  const std::size_t frequencies = SeriesTest::frequencies(std::min(before.size(), after.size()));
  const Series old(before, SeriesTest::blocks(frequencies));
  const Series now(after, SeriesTest::blocks(frequencies));
  SeriesTest test(old.blocks(), now.blocks(), frequencies);
  return test.difference(old.part, now.part);
}

constexpr std::size_t kSamples = 2000;

// Means of 0.12 and 0.22 and a variance of 0.0004 in both: t is 6.1237 with 4 degrees of freedom,
// and Simpson's rule gives the integral of its density.
TEST(DifferenceOfRuns, StudentsT) {
  const std::vector<float> before = {0.10F, 0.12F, 0.14F};
  const std::vector<float> after = {0.20F, 0.24F, 0.22F};
  const ShareDifference found = difference_of_runs({before, 1e-6}, {after, 1e-6});
  EXPECT_NEAR(found.change, 0.1, 1e-6);
  EXPECT_NEAR(found.error, 0.0163299, 1e-6);
  EXPECT_DOUBLE_EQ(found.degrees, 4);
  EXPECT_NEAR(found.p, 0.003602, 1e-5);
}

// Runs that are all alike may differ by what a sample is.
TEST(DifferenceOfRuns, NoScatterIsThatOfRounding) {
  const std::vector<float> before = {0.1F, 0.1F};
  const std::vector<float> after = {0.101F, 0.101F};
  const ShareDifference found = difference_of_runs({before, 0.001}, {after, 0.001});
  EXPECT_NEAR(found.error, 0.001 * std::sqrt(1.0 / 6), 1e-6);
  EXPECT_GT(found.p, 0.05);
  EXPECT_LT(difference_of_runs({before, 1e-7}, {after, 1e-7}).p, 0.001);
}

// Ten recordings of 3,000 samples each; a function of 20 % takes 15 % longer: 22.33 %.
TEST(DifferenceOfRuns, FindsAChangeThatOnePairDoesNotShow) {
  std::mt19937_64 random(1);
  constexpr int kRuns = 10;
  constexpr int kTaken = 3000;
  const auto draw = [&](double share) {
    std::vector<float> shares(kRuns);
    std::binomial_distribution<int> in_it(kTaken, share);
    for (float& one : shares) one = static_cast<float>(in_it(random)) / kTaken;
    return shares;
  };
  int found = 0;
  int alarms = 0;
  constexpr double kChance = 0.001 / 20;  // as if it were the first of 20 functions
  for (int i = 0; i < 20; ++i) {
    const auto before = draw(0.2);
    const auto after = draw(0.2 * 1.15 / 1.03);
    const auto same = draw(0.2);
    found += difference_of_runs({before, 1.0 / kTaken}, {after, 1.0 / kTaken}).p < kChance;
    alarms += difference_of_runs({before, 1.0 / kTaken}, {same, 1.0 / kTaken}).p < kChance;
  }
  EXPECT_GE(found, 18);
  EXPECT_EQ(alarms, 0);
}

TEST(SeriesTest, FewSamplesAreNoSeries) {
  EXPECT_EQ(SeriesTest::frequencies(0), 0u);
  EXPECT_EQ(SeriesTest::frequencies(624), 0u);
  EXPECT_EQ(SeriesTest::frequencies(625), 10u);
  EXPECT_EQ(SeriesTest::frequencies(2000), 13u);
  EXPECT_EQ(SeriesTest::frequencies(1'000'000'000), 50u);
}

// The mean error of random samples is that of binomial ones, and p is below a limit as often as
// that limit.
TEST(SeriesTest, RandomSamplesHaveTheErrorOfRandomSamples) {
  std::mt19937_64 random(1);
  std::bernoulli_distribution is_in(0.1);
  const auto draw = [&](std::size_t) { return is_in(random); };
  constexpr int kTrials = 500;
  double variance = 0;
  int below_tenth = 0;
  int below_hundredth = 0;
  for (int i = 0; i < kTrials; ++i) {
    const ShareDifference found = compared(samples_of(kSamples, draw), samples_of(kSamples, draw));
    variance += found.error * found.error / kTrials;
    below_tenth += found.p < 0.1 ? 1 : 0;
    below_hundredth += found.p < 0.01 ? 1 : 0;
  }
  EXPECT_NEAR(std::sqrt(variance), std::sqrt(2 * 0.1 * 0.9 / kSamples), 0.05 * 0.0095);
  EXPECT_NEAR(below_tenth, 0.1 * kTrials, 4 * std::sqrt(0.09 * kTrials));
  EXPECT_LE(below_hundredth, 0.01 * kTrials + 4 * std::sqrt(0.0099 * kTrials));
}

// 2 of each 20 samples, or 7 of each 50, as regular samples of a loop are. Random ones
// would have an error of 0.01.
TEST(SeriesTest, RegularSamplesHaveLessError) {
  const ShareDifference found =
      compared(samples_of(kSamples, [](std::size_t i) { return i % 20 < 2; }),
               samples_of(kSamples, [](std::size_t i) { return i % 50 < 7; }));
  EXPECT_NEAR(found.change, 0.04, 1e-9);
  EXPECT_LT(found.error, 0.003);
  EXPECT_LT(found.p, 1e-6);
}

// Bursts of `length` samples, which are there or not.
Samples bursts(std::size_t length, std::mt19937_64& random) {
  std::bernoulli_distribution is_in(0.1);
  const std::size_t offset = random() % length;
  const Samples episodes =
      samples_of(kSamples / length + 2, [&](std::size_t) { return is_in(random); });
  return samples_of(kSamples,
                    [&](std::size_t sample) { return episodes[(sample + offset) / length]; });
}

TEST(SeriesTest, SamplesThatDependOnEachOtherHaveMoreError) {
  std::mt19937_64 random(2);
  constexpr int kTrials = 500;
  for (const std::size_t length : {20u, 50u}) {
    double variance = 0;
    int alarms = 0;
    for (int i = 0; i < kTrials; ++i) {
      const ShareDifference found = compared(bursts(length, random), bursts(length, random));
      variance += found.error * found.error / kTrials;
      alarms += found.p < 0.001 ? 1 : 0;
    }
    const double true_error =
        std::sqrt(2 * 0.1 * 0.9 * static_cast<double>(length) / static_cast<double>(kSamples));
    EXPECT_NEAR(std::sqrt(variance), true_error, 0.2 * true_error) << length;
    EXPECT_LE(alarms, 0.005 * kTrials) << length;
  }
}

// Four fifths of the function are in the first tenth of both.
TEST(SeriesTest, PhasesThatBothHaveAreNoError) {
  const auto phases = [](unsigned shift) {
    return samples_of(kSamples, [shift](std::size_t i) {
      return (i + shift) % 10 < (i < kSamples / 10 ? 8u : 1u);
    });
  };
  const ShareDifference found = compared(phases(0), phases(3));
  EXPECT_NEAR(found.change, 0, 1e-9);
  EXPECT_LT(found.error, 0.003);
  EXPECT_GT(found.p, 0.9);
}

// A change in one phase alone is sure if there are samples enough.
TEST(SeriesTest, AChangeInOnePhaseIsFound) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> uniform;
  const auto samples = [&](double share) {
    return samples_of(20 * kSamples, [&](std::size_t i) {
      const bool is_in_phase = i >= 5 * kSamples && i < 10 * kSamples;
      return is_in_phase && uniform(random) < share;
    });
  };
  const ShareDifference found = compared(samples(0.40), samples(0.56));
  EXPECT_NEAR(found.change, 0.04, 0.005);
  EXPECT_LT(found.p, 1e-4);
}

// Rounding alone: all samples are alike, and the function has the share 1 in both.
TEST(SeriesTest, TheErrorIsNeverNothing) {
  const Samples all(kSamples, true);
  const ShareDifference found = compared(all, all);
  EXPECT_EQ(found.change, 0);
  EXPECT_GT(found.error, 0);
  EXPECT_EQ(found.p, 1);
}

// Computed with Python's math.erfc.
TEST(DifferenceOfCounts, IsYatesTest) {
  const ShareDifference found = difference_of_counts({200, 2000}, {280, 2000});
  EXPECT_NEAR(found.change, 0.04, 1e-12);
  EXPECT_NEAR(found.error, 0.0102762, 1e-6);
  EXPECT_NEAR(found.p, 0.000121125, 1e-9);
  EXPECT_NEAR(found.margin(), 1.959964 * found.error, 1e-6);
}

TEST(DifferenceOfCounts, FewCountsAreNothing) {
  EXPECT_EQ(difference_of_counts({0, 2000}, {0, 2000}).p, 1);
  EXPECT_EQ(difference_of_counts({5, 5}, {7, 7}).p, 1);
  EXPECT_GT(difference_of_counts({0, 100}, {2, 100}).p, 0.4);
}

// By hand: 0.005 x 4, 0.01 x 3, 0.03 x 2, and 0.04 is no less than the one before.
TEST(Corrected, MultipliesByThoseThatAreLeft) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005};
  const std::vector<double> expected = {0.03, 0.06, 0.06, 0.02};
  const std::vector<double> values = corrected(p);
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(values[i], expected[i], 1e-12);
  EXPECT_TRUE(corrected({}).empty());
  EXPECT_EQ(corrected(std::vector<double>{0.9, 0.8}), (std::vector<double>{1, 1}));
}

}  // namespace
}  // namespace ringside::views
