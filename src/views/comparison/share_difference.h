#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringside::views {

// How much a share of two profiles differs, and how sure that is. Shares are from 0 to 1.
struct ShareDifference {
  double change = 0;   // the share after minus the one before
  double error = 0;    // standard error of that
  double degrees = 0;  // of freedom of `error`; 0: it belongs to a normal distribution
  double p = 1;        // that profiles of the same program differ as much or more, in either way

  // Half the width of the interval that the true change is in, in 95 of 100 cases.
  [[nodiscard]] double margin() const;
};

// A profile's weight in blocks of its samples, in the order of their times.
struct Blocks {
  std::span<const double> weights;  // of all samples, by block
  double sample = 1;                // weight of one sample, on average
};

// The test for samples in the order of time. The difference of two shares is the mean of a series,
// the differences in corresponding blocks. The standard error of a mean is what the spectrum of the
// series is at the frequency 0, which the periodogram at the lowest frequencies estimates
// (P. Heidelberger, P. D. Welch, Comm. ACM 24 (1981) 233). Their median leaves out a few
// frequencies at which the profiles differ for a reason, such as a phase that one build goes
// through faster. Samples at regular times have less error than random ones, and samples that
// depend on each other have more: both shows.
class SeriesTest {
 public:
  // How many frequencies so many samples allow; 0: there are too few for this test.
  [[nodiscard]] static std::size_t frequencies(std::uint64_t samples);
  // The blocks for so many frequencies.
  [[nodiscard]] static std::size_t blocks(std::size_t frequencies) { return 8 * frequencies; }

  // Both have blocks(frequencies) blocks, which must outlive the test.
  SeriesTest(const Blocks& before, const Blocks& after, std::size_t frequencies);
  // The weights of a function, by block.
  [[nodiscard]] ShareDifference difference(std::span<const float> before,
                                           std::span<const float> after);

 private:
  [[nodiscard]] double power(std::size_t frequency) const;

  const Blocks before_;
  const Blocks after_;
  double weight_before_;
  double weight_after_;
  std::size_t frequencies_;
  std::vector<double> cosines_;  // of one period, by block
  std::vector<double> series_;   // reused, as is:
  std::vector<double> powers_;
};

// The z-test of two proportions with Yates's correction, for samples that are taken as random and
// independent of each other.
struct CountedShare {
  double part = 0;   // samples
  double whole = 0;  // samples, at least 1
};
[[nodiscard]] ShareDifference difference_of_counts(const CountedShare& before,
                                                   const CountedShare& after);

// The shares of a function in several profiles of each program, which scatter from run to run.
// Their means are compared by Student's t-test, with one variance for both. There are at least
// three profiles, and one of each. `sample`: the share that one sample is, on average.
struct Runs {
  std::span<const float> shares;
  double sample = 0;
};
[[nodiscard]] ShareDifference difference_of_runs(const Runs& before, const Runs& after);

// Holm's correction of the values p of so many tests: the least one is multiplied by their number,
// the next one by one less, and so on. The chance that any of those below a limit is there by
// chance is then at most that limit.
[[nodiscard]] std::vector<double> corrected(std::span<const double> p);

}  // namespace ringside::views
