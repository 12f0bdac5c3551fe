#include "views/comparison/sampled_functions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "views/comparison/build_names.h"

namespace ringside::views {
namespace {

constexpr std::uint32_t kNoRow = std::numeric_limits<std::uint32_t>::max();

bool is_count(recording::WeightUnit unit) {
  return unit == recording::WeightUnit::kTicks || unit == recording::WeightUnit::kSamples;
}

// Whether weights of stacks without times may be numbers of samples. Programs that fold stacks also
// write sums of periods, as cycles or nanoseconds, and call them the same: those have a common
// factor, or are large for most stacks.
bool may_be_counts(std::vector<std::uint64_t> extents) {
  constexpr std::size_t kEnough = 8;              // fewer stacks may have a factor by chance
  constexpr std::uint64_t kLeastFactor = 100;     // a few runs of one loop may have a small one
  constexpr std::uint64_t kMostOfHalf = 100'000;  // samples of a stack
  if (extents.size() < kEnough) return true;
  std::uint64_t factor = 0;
  for (const std::uint64_t extent : extents) factor = std::gcd(factor, extent);
  const auto middle = extents.begin() + static_cast<std::ptrdiff_t>(extents.size() / 2);
  std::nth_element(extents.begin(), middle, extents.end());
  return factor < kLeastFactor && *middle <= kMostOfHalf;
}

}  // namespace

// Keeps the samples of the chosen sources.
class SampledFunctions::Receiver final : public profile::SampleReceiver {
 public:
  Receiver(SampledFunctions& functions, const profile::DetailedProfile& details)
      : functions_(functions), details_(details) {
    functions_.groups_.resize(details.group_count());
  }

  void sample(const profile::TimedSample& sample) override {
    if (sample.values.empty() ||
        details_.owner_of(sample.group).disposition != wire::Disposition::kSampled)
      return;
    const profile::Weight weight = sample.values.front();
    Group& group = functions_.groups_[sample.group];
    group.weight += weight;
    ++group.rows;
    if (functions_.has_times_)
      ++group.samples;
    else if (functions_.weights_are_counts_)
      group.samples += profile::extent_of(weight);
    functions_.samples_.push_back({sample.time, sample.group, static_cast<float>(weight)});
  }

 private:
  SampledFunctions& functions_;
  const profile::DetailedProfile& details_;
};

Result<SampledFunctions> SampledFunctions::read(profile::DetailedProfile& details,
                                                bool inlined_rows) {
  SampledFunctions functions;
  functions.header_ = details.profile().header;
  functions.has_times_ = details.profile().has_times;
  functions.summary_ = make_summary(details.profile());
  if (!functions.has_times_) functions.summary_.duration_ns = 0;  // it is of numbers of events
  if (!details.sources().empty() && !details.sources().front().values.empty()) {
    const profile::ChosenSource& chosen = details.sources().front();
    const recording::WeightUnit unit = chosen.source.values[chosen.values.front()].unit;
    functions.unit_ = recording::name_of(unit);
    functions.weights_are_counts_ = is_count(unit);
  }
  Receiver receiver(functions, details);
  RINGSIDE_TRY(details.for_each(receiver));
  functions.check_counts();
  functions.find_rows(details, inlined_rows);
  std::stable_sort(functions.samples_.begin(), functions.samples_.end(),
                   [](const Sample& a, const Sample& b) { return a.time < b.time; });
  // The times of other profilers' samples have no place in the summary.
  const bool is_of_host =
      !details.sources().empty() && details.sources().front().source.clock == recording::kHostClock;
  if (functions.summary_.duration_ns == 0 && functions.has_times_ && is_of_host &&
      !functions.samples_.empty())
    functions.summary_.duration_ns =
        functions.samples_.back().time - functions.samples_.front().time;
  return functions;
}

void SampledFunctions::check_counts() {
  const auto has_weight = [](const Sample& sample) { return std::abs(sample.weight) > 1; };
  if (has_times_ || !weights_are_counts_ ||
      std::none_of(samples_.begin(), samples_.end(), has_weight))
    return;
  std::vector<std::uint64_t> extents;
  for (const Group& group : groups_)
    if (group.rows != 0) extents.push_back(profile::extent_of(group.weight));
  weights_are_counts_ = may_be_counts(std::move(extents));
  if (weights_are_counts_) return;
  for (Group& group : groups_) group.samples = 0;
}

void SampledFunctions::find_rows(profile::DetailedProfile& details, bool inlined_rows) {
  std::vector<std::uint32_t> last_group;  // by row: the last group that has it, and one more
  for (std::uint32_t id = 0; id < groups_.size(); ++id) {
    Group& group = groups_[id];
    if (group.rows == 0) continue;
    group.first = static_cast<std::uint32_t>(group_rows_.size());
    for (const profile::StackEntry& entry : details.stack_of(id)) {
      const auto functions = details.frame(entry).functions;
      for (std::size_t i = functions.size(); i-- > 0;) {  // innermost first
        if (!inlined_rows && details.profile().frames[functions[i]].inlined) continue;
        const Row row = row_of(details.profile(), functions[i]);
        last_group.resize(rows_.size());
        if (std::exchange(last_group[row], id + 1) != id + 1) group_rows_.push_back(row);
      }
    }
    group.count = static_cast<std::uint32_t>(group_rows_.size()) - group.first;
  }
}

SampledFunctions::Row SampledFunctions::row_of(const profile::Profile& profile,
                                               profile::FrameId id) {
  const profile::Frame& frame = profile.frames[id];
  if (rows_of_functions_.size() < profile.functions.size())
    rows_of_functions_.resize(profile.functions.size(), kNoRow);
  Row& known = rows_of_functions_[frame.function];
  if (known != kNoRow) {
    // As `report` has it: one of an interrupt only where every frame of it is.
    if (rows_[known].kind == profile::Kind::kInterrupt) rows_[known].kind = frame.kind;
    return known;
  }
  const profile::Function& function = profile.functions[frame.function];
  FunctionSum row;
  row.name = name_across_builds(profile.strings[function.name]);
  row.image = image_across_builds(profile.strings[function.image], frame.kind);
  row.kind = frame.kind;
  const auto number = static_cast<Row>(rows_.size());
  const auto [it, is_new] = row_numbers_.try_emplace({row.name, row.image}, number);
  if (is_new) rows_.push_back(std::move(row));
  return known = it->second;
}

profile::Weight SampledFunctions::weight() const {
  profile::Weight sum = 0;
  for (const Group& group : groups_) sum += group.weight;
  return sum;
}

FunctionSums SampledFunctions::sum(std::size_t blocks, const NameSet& names) const {
  FunctionSums sums;
  sums.functions = rows_;
  for (const Group& group : groups_) {
    if (group.rows == 0) continue;
    sums.weight += group.weight;
    sums.samples += group.samples;
    for (std::uint32_t i = 0; i < group.count; ++i) {
      FunctionSum& function = sums.functions[group_rows_[group.first + i]];
      function.total += group.weight;
      function.total_samples += group.samples;
      if (i != 0) continue;
      function.self += group.weight;
      function.self_samples += group.samples;
    }
  }
  if (blocks != 0) add_blocks(blocks, names, sums);
  std::sort(sums.functions.begin(), sums.functions.end(),
            [](const FunctionSum& a, const FunctionSum& b) {
              return std::tie(a.name, a.image) < std::tie(b.name, b.image);
            });
  return sums;
}

// Many samples of a block are of one group, whose functions get their sum.
void SampledFunctions::add_blocks(std::size_t blocks, const NameSet& names,
                                  FunctionSums& sums) const {
  sums.block_weights.resize(blocks);
  for (FunctionSum& function : sums.functions) {
    if (names.count(function.name) == 0) continue;
    function.self_blocks.resize(blocks);
    function.total_blocks.resize(blocks);
  }
  double whole = 0;
  for (const Sample& sample : samples_) whole += std::abs(static_cast<double>(sample.weight));
  std::vector<double> of_group(groups_.size());
  std::vector<std::uint32_t> touched;
  const auto close = [&](std::size_t block) {
    for (const std::uint32_t id : touched) {
      const auto weight = static_cast<float>(std::exchange(of_group[id], 0));
      const Group& group = groups_[id];
      for (std::uint32_t i = 0; i < group.count; ++i) {
        FunctionSum& function = sums.functions[group_rows_[group.first + i]];
        if (function.total_blocks.empty()) continue;
        function.total_blocks[block] += weight;
        if (i == 0) function.self_blocks[block] += weight;
      }
    }
    touched.clear();
  };
  std::size_t block = 0;
  double before = 0;  // weight of the samples before this one
  for (const Sample& sample : samples_) {
    const auto at = static_cast<std::size_t>(before / whole * static_cast<double>(blocks));
    if (const std::size_t next = std::min(at, blocks - 1); next != block) {
      close(block);
      block = next;
    }
    if (of_group[sample.group] == 0) touched.push_back(sample.group);
    of_group[sample.group] += static_cast<double>(sample.weight);
    sums.block_weights[block] += static_cast<double>(sample.weight);
    before += std::abs(static_cast<double>(sample.weight));
  }
  close(block);
}

}  // namespace ringside::views
