#include "views/comparison/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace ringside::views {
namespace {

// Functions with fewer samples, in both together, are not tested: no difference of theirs is sure.
constexpr std::uint64_t kFewestSamples = 10;

// Function sums by what they are called; null: the profile has none of the function.
using Pair = std::pair<const FunctionSum*, const FunctionSum*>;

// Formats without images have names alone, and the kernel's image is called what its file is.
bool may_join(const FunctionSum& before, const FunctionSum& after) {
  return before.image.empty() || after.image.empty() ||
         (is_kernel(before.kind) && is_kernel(after.kind));
}

// A function of one profile is the other's of that name in another image, where there is one and
// no more.
void join_without_images(std::vector<Pair>& pairs) {
  std::map<std::string_view, std::vector<std::size_t>> lone;
  for (std::size_t i = 0; i < pairs.size(); ++i)
    if (pairs[i].first == nullptr || pairs[i].second == nullptr)
      lone[(pairs[i].first != nullptr ? pairs[i].first : pairs[i].second)->name].push_back(i);
  for (const auto& [name, places] : lone) {
    if (places.size() != 2) continue;
    Pair& one = pairs[places[0]];
    Pair& other = pairs[places[1]];
    if ((one.first == nullptr) == (other.first == nullptr)) continue;
    Pair& old = one.first != nullptr ? one : other;
    Pair& now = one.first != nullptr ? other : one;
    if (!may_join(*old.first, *now.second)) continue;
    old.second = now.second;
    now = {};
  }
  std::erase(pairs, Pair());
}

// Both are in order of name and image.
std::vector<Pair> pairs_of(const FunctionSums& before, const FunctionSums& after) {
  const auto key = [](const FunctionSum& function) {
    return std::tie(function.name, function.image);
  };
  std::vector<Pair> pairs;
  auto old = before.functions.begin();
  auto now = after.functions.begin();
  while (old != before.functions.end() || now != after.functions.end()) {
    if (now == after.functions.end() || (old != before.functions.end() && key(*old) < key(*now)))
      pairs.emplace_back(&*old++, nullptr);
    else if (old == before.functions.end() || key(*now) < key(*old))
      pairs.emplace_back(nullptr, &*now++);
    else
      pairs.emplace_back(&*old++, &*now++);
  }
  join_without_images(pairs);
  return pairs;
}

// One of the two sums of functions: by self or by total.
struct Which {
  profile::Weight FunctionSum::*weight;
  std::uint64_t FunctionSum::*samples;
  std::vector<float> FunctionSum::*blocks;
};
constexpr Which kSelf = {&FunctionSum::self, &FunctionSum::self_samples, &FunctionSum::self_blocks};
constexpr Which kTotal = {&FunctionSum::total, &FunctionSum::total_samples,
                          &FunctionSum::total_blocks};

// Where some weights are negative, a share may be none.
bool is_share(double share) { return share >= 0 && share <= 1; }

bool is_tested(const ComparedShare& share) {
  const std::uint64_t fewest = share.is_exact ? 0 : kFewestSamples;
  return share.has_counts && share.samples_before + share.samples_after >= fewest &&
         is_share(share.before) && is_share(share.after);
}

std::size_t frequencies_of(const FunctionSums& sums) {
  return sums.block_weights.size() / SeriesTest::blocks(1);
}

Blocks blocks_of(const FunctionSums& sums) {
  return {sums.block_weights, static_cast<double>(sums.weight) / static_cast<double>(sums.samples)};
}

// Several profiles, without weights: the blocks of a function are its shares in each.
FunctionSums sum_of_runs(std::span<const FunctionSums> runs) {
  FunctionSums all;
  std::map<std::pair<std::string, std::string>, FunctionSum> functions;
  for (std::size_t run = 0; run < runs.size(); ++run) {
    const FunctionSums& sums = runs[run];
    all.samples += sums.samples;
    for (const FunctionSum& function : sums.functions) {
      FunctionSum& sum = functions[{function.name, function.image}];
      // As within a recording: of an interrupt only where it is in all.
      if (sum.name.empty() || sum.kind == profile::Kind::kInterrupt) sum.kind = function.kind;
      sum.name = function.name;
      sum.image = function.image;
      sum.self_samples += function.self_samples;
      sum.total_samples += function.total_samples;
      sum.self_blocks.resize(runs.size());
      sum.total_blocks.resize(runs.size());
      const auto whole = static_cast<float>(sums.weight);
      sum.self_blocks[run] += static_cast<float>(function.self) / whole;
      sum.total_blocks[run] += static_cast<float>(function.total) / whole;
    }
  }
  // Where one has no number of samples, that of all is not known.
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run.samples == 0; }))
    all.samples = 0;
  all.functions.reserve(functions.size());
  for (auto& [name, function] : functions) all.functions.push_back(std::move(function));
  return all;
}

// How shares are tested: by blocks of two profiles, by the shares of several, or by counts.
struct Test {
  std::size_t blocks = 0;       // of both profiles, each in order of time
  std::size_t runs_before = 0;  // instead: profiles of each
  std::size_t runs_after = 0;
  bool exact = false;  // instead: a change is sure
};

class Comparer {
 public:
  Comparer(const FunctionSums& before, const FunctionSums& after, const Test& test)
      : before_(before),
        after_(after),
        test_(test),
        none_(std::max({test.blocks, test.runs_before, test.runs_after})) {
    if (test.blocks != 0 && !test.exact)
      series_.emplace(blocks_of(before), blocks_of(after), frequencies_of(before));
  }

  [[nodiscard]] ComparedShare compare(const Pair& pair, const Which& which) {
    ComparedShare share;
    if (pair.first != nullptr) {
      share.before = share_of(*pair.first, which, before_);
      share.samples_before = pair.first->*which.samples;
    }
    if (pair.second != nullptr) {
      share.after = share_of(*pair.second, which, after_);
      share.samples_after = pair.second->*which.samples;
    }
    share.difference.change = share.after - share.before;
    share.has_counts = before_.samples != 0 && after_.samples != 0;
    share.is_exact = test_.exact;
    if (!is_tested(share)) return share;
    share.difference = difference(share, pair, which);
    return share;
  }

 private:
  [[nodiscard]] ShareDifference difference(const ComparedShare& share, const Pair& pair,
                                           const Which& which) {
    if (test_.exact) {
      const double change = share.difference.change;
      return {.change = change, .p = change == 0 ? 1.0 : 0.0};
    }
    if (series_)
      return series_->difference(blocks(pair.first, which, test_.blocks),
                                 blocks(pair.second, which, test_.blocks));
    if (test_.runs_before == 0)
      return difference_of_counts(counted(share.before, before_), counted(share.after, after_));
    const auto sample = [](std::size_t runs, const FunctionSums& sums) {
      return static_cast<double>(runs) / static_cast<double>(sums.samples);
    };
    return difference_of_runs(
        {blocks(pair.first, which, test_.runs_before), sample(test_.runs_before, before_)},
        {blocks(pair.second, which, test_.runs_after), sample(test_.runs_after, after_)});
  }
  // The mean where there are several profiles.
  [[nodiscard]] double share_of(const FunctionSum& function, const Which& which,
                                const FunctionSums& sums) const {
    if (test_.runs_before == 0)
      return static_cast<double>(function.*which.weight) / static_cast<double>(sums.weight);
    const std::vector<float>& shares = function.*which.blocks;
    return std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  }
  // Samples of unlike weight count as so many equal ones.
  [[nodiscard]] static CountedShare counted(double share, const FunctionSums& sums) {
    const auto samples = static_cast<double>(sums.samples);
    return {share * samples, samples};
  }
  [[nodiscard]] std::span<const float> blocks(const FunctionSum* function, const Which& which,
                                              std::size_t count) const {
    return function == nullptr ? std::span(none_).first(count)
                               : std::span<const float>(function->*which.blocks);
  }

  const FunctionSums& before_;
  const FunctionSums& after_;
  const Test test_;
  std::vector<float> none_;  // the blocks of a function that is not there
  std::optional<SeriesTest> series_;
};

// Returns how many were tested.
std::size_t correct(std::vector<ComparedFunction>& functions,
                    ComparedShare ComparedFunction::*which) {
  std::vector<ComparedShare*> tested;
  std::vector<double> p;
  for (ComparedFunction& function : functions) {
    ComparedShare& share = function.*which;
    if (!is_tested(share)) continue;
    tested.push_back(&share);
    p.push_back(share.difference.p);
  }
  const std::vector<double> values = corrected(p);
  for (std::size_t i = 0; i < tested.size(); ++i) tested[i]->corrected_p = values[i];
  return tested.size();
}

Comparison compared(const FunctionSums& before, const FunctionSums& after, const Test& test) {
  Comparison comparison;
  comparison.before.samples = before.samples;
  comparison.after.samples = after.samples;
  comparison.is_exact = test.exact;
  if (!test.exact) comparison.frequencies = frequencies_of(before);
  Comparer comparer(before, after, test);
  for (const Pair& pair : pairs_of(before, after)) {
    const FunctionSum& known = pair.second != nullptr ? *pair.second : *pair.first;
    comparison.functions.push_back({known.name, known.image, known.kind,
                                    comparer.compare(pair, kSelf), comparer.compare(pair, kTotal)});
  }
  comparison.tested_self = correct(comparison.functions, &ComparedFunction::self);
  comparison.tested_total = correct(comparison.functions, &ComparedFunction::total);
  return comparison;
}

}  // namespace

SampledFunctions::NameSet tested_names(const FunctionSums& before, const FunctionSums& after) {
  std::map<std::string_view, std::uint64_t> samples;
  for (const FunctionSums* const sums : {&before, &after})
    for (const FunctionSum& function : sums->functions)
      samples[function.name] += function.total_samples;
  SampledFunctions::NameSet names;
  for (const auto& [name, count] : samples)
    if (count >= kFewestSamples) names.emplace(name);
  return names;
}

std::size_t block_count(const SampledFunctions& before, const SampledFunctions& after) {
  if (!before.has_times() || !after.has_times()) return 0;
  return SeriesTest::blocks(SeriesTest::frequencies(std::min(before.rows(), after.rows())));
}

Comparison compare(const FunctionSums& before, const FunctionSums& after, bool exact) {
  return compared(before, after, {.blocks = before.block_weights.size(), .exact = exact});
}

Comparison compare_runs(std::span<const FunctionSums> before, std::span<const FunctionSums> after) {
  Comparison comparison = compared(sum_of_runs(before), sum_of_runs(after),
                                   {.runs_before = before.size(), .runs_after = after.size()});
  comparison.before.recordings = before.size();
  comparison.after.recordings = after.size();
  return comparison;
}

Verdict verdict_of(const ComparedShare& share, double chance) {
  if (!share.has_counts) return Verdict::kNoTest;
  if (!is_tested(share)) return Verdict::kFewSamples;
  if (share.is_exact && share.difference.change == 0) return Verdict::kEqual;
  if (share.corrected_p >= chance) return Verdict::kUnsure;
  if (share.samples_before == 0) return Verdict::kNew;
  if (share.samples_after == 0) return Verdict::kGone;
  return share.difference.change > 0 ? Verdict::kGrew : Verdict::kShrank;
}

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kNoTest:
      return "no test";
    case Verdict::kFewSamples:
      return "few samples";
    case Verdict::kEqual:
      return "equal";
    case Verdict::kUnsure:
      return "unsure";
    case Verdict::kGrew:
      return "grew";
    case Verdict::kShrank:
      return "shrank";
    case Verdict::kNew:
      return "new";
    case Verdict::kGone:
      return "gone";
  }
  return "";
}

std::vector<const ComparedFunction*> by_change(const Comparison& comparison, bool with_callees) {
  std::vector<const ComparedFunction*> functions;
  for (const ComparedFunction& function : comparison.functions) functions.push_back(&function);
  const auto extent = [&](const ComparedFunction* function) {
    return std::abs(function->share(with_callees).difference.change);
  };
  std::stable_sort(
      functions.begin(), functions.end(),
      [&](const ComparedFunction* a, const ComparedFunction* b) { return extent(a) > extent(b); });
  return functions;
}

}  // namespace ringside::views
