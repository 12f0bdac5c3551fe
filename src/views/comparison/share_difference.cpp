#include "views/comparison/share_difference.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <numbers>
#include <numeric>

namespace ringside::views {
namespace {

namespace math = boost::math;

// A count of samples at regular times is at best rounded: the variance of a rounding in a random
// place is 1/6.
constexpr double kRounding = 1.0 / 6;
constexpr double kMarginQuantile = 0.975;
constexpr std::size_t kFewestFrequencies = 10;
constexpr std::size_t kMostFrequencies = 50;
// The quotient of a normal variable and the root of the median of n exponential ones has no more in
// its tails than Student's t with 1.1 n degrees of freedom (4,000,000 draws for each n of 10, 16,
// 22 and 50, down to a chance of 0.00001).
constexpr double kDegreesEach = 1.1;

double sum(const auto& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

double two_sided(double statistic, double degrees) {
  if (degrees == 0) return 2 * math::cdf(math::complement(math::normal(), statistic));
  return 2 * math::cdf(math::complement(math::students_t(degrees), statistic));
}

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace

double ShareDifference::margin() const {
  if (degrees == 0) return error * math::quantile(math::normal(), kMarginQuantile);
  return error * math::quantile(math::students_t(degrees), kMarginQuantile);
}

// Few, for they stand for the frequency 0: where samples depend on each other, the power is less
// at higher ones. More for more samples, for a change in one phase alone is in all of the lowest.
std::size_t SeriesTest::frequencies(std::uint64_t samples) {
  const double wanted = 2 * std::pow(static_cast<double>(samples), 0.25);
  if (wanted < kFewestFrequencies) return 0;
  return std::min(static_cast<std::size_t>(wanted), kMostFrequencies);
}

SeriesTest::SeriesTest(const Blocks& before, const Blocks& after, std::size_t frequencies)
    : before_(before),
      after_(after),
      weight_before_(sum(before.weights)),
      weight_after_(sum(after.weights)),
      frequencies_(frequencies),
      cosines_(blocks(frequencies)),
      series_(cosines_.size()),
      powers_(frequencies) {
  for (std::size_t i = 0; i < cosines_.size(); ++i)
    cosines_[i] = std::cos(2 * std::numbers::pi * static_cast<double>(i) /
                           static_cast<double>(cosines_.size()));
}

ShareDifference SeriesTest::difference(std::span<const float> before,
                                       std::span<const float> after) {
  const double share_before = sum(before) / weight_before_;
  const double share_after = sum(after) / weight_after_;
  for (std::size_t i = 0; i < series_.size(); ++i) {
    const double old = static_cast<double>(before[i]) - share_before * before_.weights[i];
    const double now = static_cast<double>(after[i]) - share_after * after_.weights[i];
    series_[i] = now / weight_after_ - old / weight_before_;
  }
  for (std::size_t i = 0; i < frequencies_; ++i) powers_[i] = power(i + 1);
  // The powers are exponentially distributed: their median is the mean times ln 2.
  const double variance = median(powers_) / std::numbers::ln2;
  const double old = before_.sample / weight_before_;
  const double now = after_.sample / weight_after_;
  // By frequency, as if the profile had as many parts whose counts are rounded each.
  const double least = kRounding * static_cast<double>(frequencies_) * (old * old + now * now);
  ShareDifference result;
  result.change = share_after - share_before;
  result.error = std::sqrt(std::max(variance, least));
  result.degrees = kDegreesEach * static_cast<double>(frequencies_);
  result.p = two_sided(std::abs(result.change) / result.error, result.degrees);
  return result;
}

// The square of the absolute value of a Fourier coefficient of the series.
double SeriesTest::power(std::size_t frequency) const {
  const std::size_t period = series_.size();
  std::size_t angle = 0;
  std::size_t ahead = period - period / 4;  // the sine is the cosine a quarter before
  double real = 0;
  double imaginary = 0;
  for (const double value : series_) {
    real += value * cosines_[angle];
    imaginary += value * cosines_[ahead];
    angle = (angle + frequency) % period;
    ahead = (ahead + frequency) % period;
  }
  return real * real + imaginary * imaginary;
}

ShareDifference difference_of_counts(const CountedShare& before, const CountedShare& after) {
  const double pooled = (before.part + after.part) / (before.whole + after.whole);
  const double per_sample = 1 / before.whole + 1 / after.whole;
  ShareDifference result;
  result.change = after.part / after.whole - before.part / before.whole;
  result.error = std::sqrt(std::max(0.0, pooled * (1 - pooled)) * per_sample);
  const double distance = std::abs(result.change) - per_sample / 2;
  if (result.error > 0 && distance > 0) result.p = two_sided(distance / result.error, 0);
  return result;
}

ShareDifference difference_of_runs(const Runs& before, const Runs& after) {
  const auto count_before = static_cast<double>(before.shares.size());
  const auto count_after = static_cast<double>(after.shares.size());
  const double mean_before = sum(before.shares) / count_before;
  const double mean_after = sum(after.shares) / count_after;
  double squares = 0;
  for (const double share : before.shares) squares += (share - mean_before) * (share - mean_before);
  for (const double share : after.shares) squares += (share - mean_after) * (share - mean_after);
  ShareDifference result;
  result.degrees = count_before + count_after - 2;
  const double variance = squares / result.degrees;
  const double least_before = kRounding * before.sample * before.sample;
  const double least_after = kRounding * after.sample * after.sample;
  result.change = mean_after - mean_before;
  result.error = std::sqrt(std::max(variance, least_before) / count_before +
                           std::max(variance, least_after) / count_after);
  result.p = two_sided(std::abs(result.change) / result.error, result.degrees);
  return result;
}

std::vector<double> corrected(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> values(p.size());
  double greatest = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double factor = static_cast<double>(p.size() - rank);
    greatest = std::max(greatest, std::min(1.0, p[order[rank]] * factor));
    values[order[rank]] = greatest;
  }
  return values;
}

}  // namespace ringside::views
