#include "importers/firefox/thread_plan.h"

#include <cmath>
#include <map>
#include <set>

#include "base/whole_number.h"
#include "importers/parts/event_numbers.h"

namespace ringside::importers::firefox {
namespace {

using recording::WeightUnit;

// Gives texts that are no numbers one, which no other has.
class Numbers {
 public:
  void see(const std::string& text) {
    if (const auto number = whole_number<std::uint32_t>(text)) taken_.insert(*number);
  }
  [[nodiscard]] std::uint32_t of(const std::string& text) {
    if (const auto number = whole_number<std::uint32_t>(text)) return *number;
    const auto [entry, added] = given_.try_emplace(text, 0);
    if (!added) return entry->second;
    while (taken_.contains(next_)) ++next_;
    entry->second = next_++;
    return entry->second;
  }

 private:
  std::set<std::uint32_t> taken_;
  std::map<std::string, std::uint32_t> given_;
  std::uint32_t next_ = 1;
};

std::uint64_t interval_ns(const Meta& meta) {
  const double ns = meta.interval_ms * 1e6;
  return ns > 0 && ns < 1e18 ? static_cast<std::uint64_t>(std::llround(ns)) : 0;
}

recording::Source source_of(const Meta& meta, SampleKind kind, WeightType type) {
  recording::Source source;
  source.engine = "firefox";
  source.kind = type == WeightType::kBytes ? recording::SourceKind::kAllocations
                                           : recording::SourceKind::kOther;
  source.clock = meta.time_is_bytes ? kEventNumbers : recording::kHostClock;
  switch (type) {
    case WeightType::kSamples:
      source.name = "samples";
      source.values = {{"samples", WeightUnit::kSamples, 1}};
      source.period = meta.time_is_bytes ? 0 : interval_ns(meta);
      break;
    case WeightType::kTime:
      source.name = "time";
      source.values = {{"time", WeightUnit::kNanoseconds, 1}};
      break;
    case WeightType::kBytes:
      source.name = "memory";
      source.values = {{"bytes", WeightUnit::kBytes, 1}};
      break;
  }
  if (kind == kNativeAllocations) source.name = "native allocations";
  if (kind == kJsAllocations) source.name = "JS allocations";
  return source;
}

class Planner {
 public:
  explicit Planner(const Profile& profile) : profile_(profile) {}

  Plan make() && {
    for (const Thread& thread : profile_.threads) {
      pids_.see(thread.pid);
      tids_.see(thread.tid);
    }
    for (const Thread& thread : profile_.threads)
      for (std::size_t kind = 0; kind < kSampleKinds; ++kind)
        if (thread.samples[kind].size() != 0) add(thread, static_cast<SampleKind>(kind));
    return std::move(plan_);
  }

 private:
  void add(const Thread& thread, SampleKind kind) {
    Series series;
    series.samples = &thread.samples[kind];
    series.tables = &profile_.tables_of(thread);
    recording::Source source = source_of(profile_.meta, kind, series.samples->type);
    if (profile_.is_of_ringside())
      set_owner_of_ringside(thread, series, source);
    else
      set_owner(thread, series);
    series.source = find_source(source);
    plan_.series.push_back(series);
  }

  void set_owner(const Thread& thread, Series& series) {
    series.pid = pids_.of(thread.pid);
    series.tid = tids_.of(thread.tid);
    name(series, thread);
  }

  // As src/exporters/firefox/thread_plan.cpp and firefox.cpp write them.
  void set_owner_of_ringside(const Thread& thread, Series& series, recording::Source& source) {
    if (thread.pid == "other sources") {
      source.name = thread.tid;
      return;
    }
    source.name = recording::kCpuSourceName;
    source.kind = recording::SourceKind::kCpu;
    source.values = {{"ticks", WeightUnit::kTicks, 1}};
    constexpr std::string_view kVcpu = "vCPU ";
    series.view = thread.pid == "vCPUs" ? View::kVcpus : View::kThreads;
    if (series.view == View::kVcpus) {
      const auto number =
          thread.name.starts_with(kVcpu)
              ? whole_number<std::uint32_t>(std::string_view(thread.name).substr(kVcpu.size()))
              : std::nullopt;
      if (number && *number < recording::kNoVcpu.value)
        series.vcpu = VcpuId{static_cast<std::uint16_t>(*number)};
      return;
    }
    series.pid = whole_number<std::uint32_t>(thread.pid);
    series.tid = whole_number<std::uint32_t>(thread.tid);
    if (series.pid) name(series, thread);
  }

  // The thread's name and, once, that of its process.
  void name(const Series& series, const Thread& thread) {
    const std::uint32_t tid = series.tid.value_or(*series.pid);
    if (!named_.insert({*series.pid, tid}).second) return;
    if (!thread.name.empty()) plan_.names.push_back({*series.pid, tid, thread.name});
    if (tid != 0 && !thread.process.empty() && named_.insert({*series.pid, 0}).second)
      plan_.names.push_back({*series.pid, 0, thread.process});
  }

  std::uint32_t find_source(const recording::Source& source) {
    for (std::size_t i = 0; i < plan_.sources.size(); ++i)
      if (plan_.sources[i].name == source.name && plan_.sources[i].values == source.values)
        return static_cast<std::uint32_t>(i + 1);
    plan_.sources.push_back(source);
    return static_cast<std::uint32_t>(plan_.sources.size());
  }

  const Profile& profile_;
  Plan plan_;
  Numbers pids_;
  Numbers tids_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> named_;
};

}  // namespace

Plan plan_threads(const Profile& profile) { return Planner(profile).make(); }

}  // namespace ringside::importers::firefox
