#include "exporters/stack_facts.h"

#include <algorithm>
#include <array>
#include <map>

#include "recording/counters.h"
#include "recording/replay.h"

namespace ringside::exporters {
namespace {

std::vector<findings::BrokenPlace> places_of(const profile::Profile& profile) {
  struct Sum {
    findings::BrokenPlace place;
    std::map<StopReason, std::uint64_t> reasons;
  };
  std::map<std::pair<bool, profile::FunctionId>, Sum> sums;
  for (const profile::BrokenEnd& end : profile.broken_ends) {
    if (!end.function || !findings::lacks_rule(end.reason)) continue;
    const profile::Function& function = profile.functions[*end.function];
    Sum& sum = sums[{end.is_user, *end.function}];
    sum.place.is_user = end.is_user;
    sum.place.function = profile.strings[function.name];
    sum.place.image = profile.strings[function.image];
    sum.place.has_tables |= end.has_tables;
    sum.place.has_file |= end.has_file;
    sum.place.samples += end.samples;
    sum.reasons[end.reason] += end.samples;
  }
  std::vector<findings::BrokenPlace> places;
  for (auto& [key, sum] : sums) {
    sum.place.reason =
        std::max_element(sum.reasons.begin(), sum.reasons.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    places.push_back(std::move(sum.place));
  }
  return places;
}

// ringside has walked the stacks itself.
bool is_ringsides(const profile::Profile& profile) {
  constexpr std::array<std::string_view, 3> kEngines = {"tcg", "gdb", "qmp"};
  return std::find(kEngines.begin(), kEngines.end(), profile.header.engine) != kEngines.end();
}

bool is_torn(const profile::Profile& profile) {
  if (!profile.recorded) return false;
  const auto& counters = profile.recorded->counters;
  const auto torn = counters.find(recording::kTornCounter);
  return torn != counters.end() && torn->second != 0;
}

}  // namespace

findings::StackFacts stack_facts(const profile::Profile& profile) {
  findings::StackFacts facts;
  facts.is_filtered = profile.filtered_samples != 0;
  facts.is_linux = profile.header.guest_os == "linux";
  facts.is_torn = is_torn(profile);
  if (is_ringsides(profile)) facts.depth_limit = recording::ReplayLimits{}.depth;
  for (const std::uint64_t samples : profile.totals.stops) facts.unwound += samples;
  facts.too_deep = profile.totals.stops[static_cast<std::size_t>(StopReason::kTooDeep)];
  facts.kernel = profile.totals.kernel;
  facts.user = profile.totals.user;
  facts.places = places_of(profile);
  facts.left_out = profile.left_out;
  return facts;
}

}  // namespace ringside::exporters
