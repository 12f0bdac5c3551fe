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
  const SampleInfo& info = sample.info;
  const auto disposition = static_cast<std::size_t>(info.disposition);
  ++count[disposition];
  weight[disposition] += info.weight;
  if (!any_ || info.time_ns != last_stop_ns_) pause.add(info.pause_ns);
  last_stop_ns_ = info.time_ns;
  first_ns = any_ ? std::min(first_ns, info.time_ns) : info.time_ns;
  last_ns = std::max(last_ns, info.time_ns);
  any_ = true;
  if (info.disposition != wire::Disposition::kSampled || sample.stacks.empty()) return;

  const auto incomplete = std::find_if(sample.stacks.begin(), sample.stacks.end(),
                                       [](const StackRef& ref) { return !is_complete(ref.stop); });
  const StackRef& ending = incomplete != sample.stacks.end() ? *incomplete : sample.stacks.back();
  ++stops[static_cast<std::size_t>(ending.stop)];
  add_parts(sample);
  if (std::any_of(sample.stacks.begin(), sample.stacks.end(),
                  [](const StackRef& ref) { return ref.node == kLostStack; }))
    ++lost_stacks;
}

void SampleStatistics::add_parts(const Sample& sample) {
  if (sample.info.level == PrivilegeLevel::kFirmware) {
    ++firmware;
    return;
  }
  for (std::size_t i = 0; i < sample.stacks.size() && i < 2; ++i) {
    PartStops& part = is_user_part(sample, i) ? user : kernel;
    ++part.stops[static_cast<std::size_t>(sample.stacks[i].stop)];
  }
  if (sample.stacks.size() > 1) ++both;
}

std::uint64_t SampleStatistics::total_weight() const {
  std::uint64_t total = 0;
  for (const std::uint64_t value : weight) total += value;
  return total;
}

}  // namespace ringside::recording
