#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/profile.h"
#include "views/comparison/sampled_functions.h"
#include "views/comparison/share_difference.h"

namespace ringside::views {

// A share of two profiles, from 0 to 1.
struct ComparedShare {
  double before = 0;
  double after = 0;
  std::uint64_t samples_before = 0;
  std::uint64_t samples_after = 0;
  ShareDifference difference;
  double corrected_p = 1;  // for all functions that were compared
  bool has_counts = true;  // the numbers of samples are there; without them there is no test
  bool is_exact = false;   // Comparison::is_exact
};

struct ComparedFunction {
  std::string name;
  std::string image;
  profile::Kind kind = profile::Kind::kUnknown;
  ComparedShare self;   // of samples it was the leaf of
  ComparedShare total;  // of samples it stood in

  [[nodiscard]] const ComparedShare& share(bool with_callees) const {
    return with_callees ? total : self;
  }
};

// One of the profiles that are compared, or several recordings of one build.
struct ComparedSide {
  std::string input;           // its file, or the first of several
  std::size_t recordings = 1;  // how many
  std::string kernel;
  std::uint64_t samples = 0;      // with a stack; 0: their number is not known
  std::string uncounted = {};     // of several recordings: one without a number of samples
  std::string unit;               // of its weights: "ticks"
  profile::Weight busy = 0;       // weight of all that is not idle, filters apart
  profile::Weight idle = 0;       // … and of what is
  std::uint64_t duration_ns = 0;  // of the recording; 0: not known
};

// The functions of two profiles, by name and image.
struct Comparison {
  ComparedSide before;
  ComparedSide after;
  std::vector<std::string> unlike;  // as unlikeness() has it
  std::vector<ComparedFunction> functions;
  std::size_t frequencies = 0;  // of the SeriesTest; 0: counts were tested
  bool is_exact = false;        // nothing was tested: each difference is one of the builds
  // Functions with enough samples for a test, by self and by total.
  std::size_t tested_self = 0;
  std::size_t tested_total = 0;

  // There are several recordings of one build: their scatter was tested.
  [[nodiscard]] bool is_of_runs() const { return before.recordings + after.recordings > 2; }
  // Without the number of samples of each nothing can be tested.
  [[nodiscard]] bool has_test() const { return before.samples != 0 && after.samples != 0; }
};

// The outcome of the test of a share.
enum class Verdict : std::uint8_t {
  kNoTest,      // the number of samples is not known
  kFewSamples,  // too few for a test
  kEqual,       // exactly
  kUnsure,      // the change may be chance
  kGrew,
  kShrank,
  kNew,   // it grew from nothing
  kGone,  // it shrank to nothing
};
// `chance`: a change is sure where its corrected p is below.
[[nodiscard]] Verdict verdict_of(const ComparedShare& share, double chance);
[[nodiscard]] std::string_view name_of(Verdict verdict);
[[nodiscard]] constexpr bool is_tested(Verdict verdict) { return verdict >= Verdict::kUnsure; }
[[nodiscard]] constexpr bool is_sure(Verdict verdict) { return verdict > Verdict::kUnsure; }

// The functions, the greatest change of self or total first.
[[nodiscard]] std::vector<const ComparedFunction*> by_change(const Comparison& comparison,
                                                             bool with_callees);

// How many blocks both get for a SeriesTest. 0 for data without times, and where the samples are
// too few: then counts are tested.
[[nodiscard]] std::size_t block_count(const SampledFunctions& before,
                                      const SampledFunctions& after);

// The names of functions that may have samples enough for a test: those that need blocks.
[[nodiscard]] SampledFunctions::NameSet tested_names(const FunctionSums& before,
                                                     const FunctionSums& after);

// `before` and `after` have as many blocks. Both have weight. `exact`: they are
// are_of_one_run(), like each other, and have all of as many ticks.
[[nodiscard]] Comparison compare(const FunctionSums& before, const FunctionSums& after,
                                 bool exact = false);

// The same of several profiles of each, at least three together. A share is the mean of those of
// one build's, and the test is of how they scatter from run to run. All have weight.
[[nodiscard]] Comparison compare_runs(std::span<const FunctionSums> before,
                                      std::span<const FunctionSums> after);

}  // namespace ringside::views
