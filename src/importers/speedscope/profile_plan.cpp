#include "importers/speedscope/profile_plan.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/whole_number.h"
#include "importers/parts/event_numbers.h"

namespace ringside::importers::speedscope {
namespace {

using recording::WeightUnit;

constexpr std::string_view kSumPrefix = "all, ";
constexpr std::size_t kMostSources = 256;
constexpr std::size_t kLongestUnit = 64;  // in a message

bool is_sum_by_name(const Profile& profile) { return profile.name.starts_with(kSumPrefix); }

double total_of(const Profile& profile) {
  double total = 0;
  for (std::size_t i = 0; i < profile.weights.size(); ++i) total += profile.weights[i];
  return total;
}

// How many profiles at the beginning are called sums.
std::size_t count_sums(const File& file) {
  const auto first = std::find_if_not(file.profiles.begin(), file.profiles.end(), is_sum_by_name);
  return static_cast<std::size_t>(first - file.profiles.begin());
}

// The one of the first `sums` profiles that has what all profiles behind have; null if none has.
const Profile* repeated_sum(const File& file, std::size_t sums) {
  constexpr double kRounding = 1e-9;
  std::map<std::string_view, double> threads;  // by unit
  for (std::size_t i = sums; i < file.profiles.size(); ++i)
    threads[file.profiles[i].unit] += total_of(file.profiles[i]);
  for (std::size_t i = 0; i < sums; ++i) {
    const auto same = threads.find(file.profiles[i].unit);
    const double all = total_of(file.profiles[i]);
    if (same != threads.end() && all != 0 &&
        std::abs(all - same->second) <= kRounding * std::abs(all))
      return &file.profiles[i];
  }
  return nullptr;
}

// A profile that ringside wrote is called after its owner: "dd 12/13", "vcpu 0".
void set_owner(PlannedProfile& planned) {
  const std::string_view name = planned.profile->name;
  constexpr std::string_view kVcpu = "vcpu ";
  const auto vcpu = name.starts_with(kVcpu) ? whole_number<std::uint32_t>(name.substr(kVcpu.size()))
                                            : std::nullopt;
  if (vcpu && *vcpu < recording::kNoVcpu.value)
    planned.vcpu = VcpuId{static_cast<std::uint16_t>(*vcpu)};
  const std::size_t slash = name.rfind('/');
  const std::size_t blank = name.rfind(' ');
  if (slash == std::string_view::npos || blank == std::string_view::npos || slash < blank) return;
  const auto tid = whole_number<std::uint32_t>(name.substr(slash + 1));
  planned.pid = whole_number<std::uint32_t>(name.substr(blank + 1, slash - blank - 1));
  if (!tid) planned.pid.reset();
  if (!planned.pid) return;
  planned.tid = *tid;
  planned.thread = name.substr(0, blank);
}

recording::Source source_of(const Unit& unit) {
  recording::Source source;
  source.kind = recording::SourceKind::kOther;
  source.engine = "speedscope";
  source.clock = unit.is_time() ? recording::kHostClock : kEventNumbers;
  switch (unit.unit) {
    case WeightUnit::kNanoseconds:
      source.name = "time";
      break;
    case WeightUnit::kBytes:
      source.name = "memory";
      source.kind = recording::SourceKind::kAllocations;
      break;
    default:
      source.name = "samples";
  }
  source.values = {{unit.unit == WeightUnit::kBytes ? "bytes" : source.name, unit.unit, 1}};
  return source;
}

class Planner {
 public:
  explicit Planner(const File& file) : file_(file) {}

  Plan make() && {
    const std::size_t sums = count_sums(file_);
    const Profile* const repeated = repeated_sum(file_, sums);
    const bool is_ours = is_of_ringside(file_) || repeated != nullptr;
    for (std::size_t i = 0; i < file_.profiles.size(); ++i) {
      const Profile& profile = file_.profiles[i];
      const bool is_part = is_ours && sums != 0 && repeated == nullptr && i >= sums;
      if (&profile != repeated && !is_part) add(profile, is_ours && i < sums);
    }
    plan_.has_all = is_ours && sums != 0 && sums < file_.profiles.size() && repeated == nullptr;
    if (is_ours) {
      for (PlannedProfile& planned : plan_.profiles) set_owner(planned);
      if (repeated != nullptr) name_source_of_threads(*repeated);
    } else if (file_.profile_count > 1) {
      for (PlannedProfile& planned : plan_.profiles) make_thread(planned);
    }
    return std::move(plan_);
  }

 private:
  void add(const Profile& profile, bool is_source) {
    const auto unit = unit_named(profile.unit);
    if (!unit) {
      plan_.left_out.add(fmt::format("profile {}", profile.number),
                         fmt::format("its unit \"{}\" is none of the format",
                                     profile.unit.substr(0, kLongestUnit)));
      return;
    }
    PlannedProfile planned;
    planned.profile = &profile;
    planned.unit = *unit;
    const bool has_own = is_source && plan_.sources.size() < kMostSources;
    planned.source = has_own ? own_source(profile, *unit) : shared_source(*unit);
    plan_.profiles.push_back(std::move(planned));
  }

  std::uint32_t own_source(const Profile& profile, const Unit& unit) {
    plan_.sources.push_back(source_of(unit));
    plan_.sources.back().name = profile.name.substr(kSumPrefix.size());
    shared_.push_back(false);
    return static_cast<std::uint32_t>(plan_.sources.size());
  }

  // The source of all profiles of a unit.
  std::uint32_t shared_source(const Unit& unit) {
    for (std::size_t i = 0; i < plan_.sources.size(); ++i)
      if (shared_[i] && plan_.sources[i].values.front().unit == unit.unit)
        return static_cast<std::uint32_t>(i + 1);
    plan_.sources.push_back(source_of(unit));
    shared_.push_back(true);
    return static_cast<std::uint32_t>(plan_.sources.size());
  }

  void name_source_of_threads(const Profile& sum) {
    for (std::size_t i = 0; i < plan_.sources.size(); ++i)
      if (shared_[i]) plan_.sources[i].name = sum.name.substr(kSumPrefix.size());
  }

  static void make_thread(PlannedProfile& planned) {
    planned.pid = static_cast<std::uint32_t>(planned.profile->number);
    planned.tid = *planned.pid;
    planned.thread = planned.profile->name;
    if (planned.thread.empty()) planned.thread = fmt::format("profile {}", planned.profile->number);
  }

  const File& file_;
  Plan plan_;
  std::vector<bool> shared_;  // by source
};

// The source with that number becomes the first one.
void put_first(Plan& plan, std::uint32_t first) {
  std::rotate(plan.sources.begin(), plan.sources.begin() + (first - 1),
              plan.sources.begin() + first);
  for (PlannedProfile& planned : plan.profiles)
    planned.source = planned.source == first  ? 1
                     : planned.source < first ? planned.source + 1
                                              : planned.source;
}

}  // namespace

std::optional<Unit> unit_named(std::string_view name) {
  if (name == "none") return Unit{WeightUnit::kSamples, 1};
  if (name == "bytes") return Unit{WeightUnit::kBytes, 1};
  if (name == "nanoseconds") return Unit{WeightUnit::kNanoseconds, 1};
  if (name == "microseconds") return Unit{WeightUnit::kNanoseconds, 1e3L};
  if (name == "milliseconds") return Unit{WeightUnit::kNanoseconds, 1e6L};
  if (name == "seconds") return Unit{WeightUnit::kNanoseconds, 1e9L};
  return std::nullopt;
}

bool is_of_ringside(const File& file) { return file.exporter.starts_with("ringside "); }

Plan plan_profiles(const File& file) {
  Plan plan = Planner(file).make();
  const auto active =
      std::find_if(plan.profiles.begin(), plan.profiles.end(), [&](const PlannedProfile& planned) {
        return planned.profile->number == file.active + std::size_t{1};
      });
  // That of ringside's threads comes first by itself, or is the active one's.
  if (active != plan.profiles.end())
    put_first(plan, active->source);
  else if (!plan.profiles.empty())
    put_first(plan, plan.profiles.back().source);
  return plan;
}

}  // namespace ringside::importers::speedscope
