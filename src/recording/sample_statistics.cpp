#include "recording/sample_statistics.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace ringside::recording {
namespace {

constexpr unsigned kBits = 6;

// Values below 64 have a slot each; above, every power of two is cut into 64 slots.
std::size_t slot_of(std::uint64_t ns) {
  if (ns < (1u << kBits)) return static_cast<std::size_t>(ns);
  const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kBits;
  return (std::size_t{shift + 1} << kBits) + static_cast<std::size_t>((ns >> shift) & 63);
}

std::uint64_t upper_end_of(std::size_t slot) {
  if (slot < (1u << kBits)) return slot;
  const std::size_t shift = (slot >> kBits) - 1;
  const std::uint64_t mantissa = (slot & 63) | 64;
  return (mantissa << shift) + ((std::uint64_t{1} << shift) - 1);
}

}  // namespace

void DurationHistogram::add(std::uint64_t ns) {
  static_assert(kSubBits == kBits);
  ++counts_[slot_of(ns)];
  ++count_;
  sum_ += ns;
  max_ = std::max(max_, ns);
}

std::uint64_t DurationHistogram::quantile(double q) const {
  if (count_ == 0) return 0;
  const auto wanted = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(q * static_cast<double>(count_))));
  std::uint64_t seen = 0;
  for (std::size_t slot = 0; slot < counts_.size(); ++slot) {
    seen += counts_[slot];
    if (seen >= wanted) return std::min(upper_end_of(slot), max_);
  }
  return max_;
}

std::uint64_t PartStops::total() const {
  return std::accumulate(stops.begin(), stops.end(), std::uint64_t{0});
}

std::uint64_t PartStops::complete() const {
  std::uint64_t count = 0;
  for (std::size_t reason = 0; reason < stops.size(); ++reason)
    if (is_complete(static_cast<StopReason>(reason))) count += stops[reason];
  return count;
}

void SampleStatistics::add(const Sample& sample) {
  Context context;
  context.level = sample.info.level;
  context.disposition = sample.info.disposition;
  add_time(sample.info.time_ns, sample.info.pause_ns);
  add_outcome(context, sample.stacks, 1, sample.info.weight);
}

void SampleStatistics::add_time(std::uint64_t time_ns, std::uint64_t pause_ns) {
  if (!any_ || time_ns != last_stop_ns_) pause.add(pause_ns);
  last_stop_ns_ = time_ns;
  first_ns = any_ ? std::min(first_ns, time_ns) : time_ns;
  last_ns = std::max(last_ns, time_ns);
  any_ = true;
}

void SampleStatistics::add_outcome(const Context& context, std::span<const StackRef> stacks,
                                   std::uint64_t samples, std::uint64_t sum) {
  const auto disposition = static_cast<std::size_t>(context.disposition);
  count[disposition] += samples;
  weight[disposition] += sum;
  if (context.disposition != wire::Disposition::kSampled || stacks.empty()) return;

  const auto incomplete = std::find_if(stacks.begin(), stacks.end(),
                                       [](const StackRef& ref) { return !is_complete(ref.stop); });
  const StackRef& ending = incomplete != stacks.end() ? *incomplete : stacks.back();
  stops[static_cast<std::size_t>(ending.stop)] += samples;
  add_parts(context.level, stacks, samples);
  if (std::any_of(stacks.begin(), stacks.end(),
                  [](const StackRef& ref) { return ref.node == kLostStack; }))
    lost_stacks += samples;
}

void SampleStatistics::add_parts(PrivilegeLevel level, std::span<const StackRef> stacks,
                                 std::uint64_t samples) {
  if (level == PrivilegeLevel::kFirmware) {
    firmware += samples;
    return;
  }
  for (std::size_t i = 0; i < stacks.size() && i < 2; ++i) {
    PartStops& part = is_user_part(level, i) ? user : kernel;
    part.stops[static_cast<std::size_t>(stacks[i].stop)] += samples;
  }
  if (stacks.size() > 1) both += samples;
}

std::uint64_t SampleStatistics::total_weight() const {
  std::uint64_t total = 0;
  for (const std::uint64_t value : weight) total += value;
  return total;
}

}  // namespace ringside::recording
