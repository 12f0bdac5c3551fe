#include "importers/perf_script/sources.h"

#include <algorithm>
#include <array>

namespace ringside::importers::perf_script {
namespace {

using recording::WeightUnit;

constexpr std::size_t kMostSources = 1000;  // readers take 1024
constexpr std::string_view kNoEvent = "samples";

std::string_view named(std::string_view event) { return event.empty() ? kNoEvent : event; }

// "cpu-clock", "cpu-clock:u" or "cpu-clock/period=1000000/".
bool is_event(std::string_view event, std::string_view name) {
  return event.starts_with(name) &&
         (event.size() == name.size() || event[name.size()] == ':' || event[name.size()] == '/');
}

bool is_clock(std::string_view event) {
  constexpr std::array<std::string_view, 2> kClocks = {"cpu-clock", "task-clock"};
  return std::any_of(kClocks.begin(), kClocks.end(),
                     [&](std::string_view name) { return is_event(event, name); });
}

// "sched:sched_switch", but not "cycles:ppp": modifiers are short words of these letters.
bool is_tracepoint(std::string_view event) {
  const std::size_t colon = event.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  constexpr std::string_view kModifiers = "ukhGHpPSDIWeb";
  return event.find_first_not_of(kModifiers, colon + 1) != std::string_view::npos;
}

WeightUnit unit_of(std::string_view event, bool has_period) {
  if (event == recording::kCpuSourceName) return WeightUnit::kTicks;
  if (event.empty() && has_period) return WeightUnit::kCount;
  if (named(event) == kNoEvent) return WeightUnit::kSamples;
  if (has_period) return is_clock(event) ? WeightUnit::kNanoseconds : WeightUnit::kCount;
  return is_tracepoint(event) ? WeightUnit::kCount : WeightUnit::kSamples;
}

}  // namespace

recording::Source Sources::describe(std::string_view event, bool has_period, std::uint32_t clock,
                                    std::uint64_t interval_ns) {
  using recording::SourceKind;
  recording::Source source;
  source.name = named(event);
  source.kind = event == recording::kCpuSourceName ? SourceKind::kCpu : SourceKind::kOther;
  source.clock = clock;
  source.period = clock == recording::kHostClock ? interval_ns : 1;
  source.engine = kEngine;
  const WeightUnit unit = unit_of(event, has_period);
  source.values = {{std::string(name_of(unit)), unit, 1}};
  return source;
}

void Sources::begin(recording::Writer& writer, const recording::Source& first) {
  writer_ = &writer;
  clock_ = first.clock;
  last_name_ = first.name;
  last_ = &sources_[last_name_];
  last_->id = 1;
  last_->is_cpu = first.kind == recording::SourceKind::kCpu;
}

Result<Sources::Known*> Sources::find(std::string_view event, bool has_period) {
  const std::string_view known_as = named(event);
  if (known_as == last_name_) return last_;
  const std::string name(known_as);
  auto known = sources_.find(name);
  if (known == sources_.end()) {
    if (sources_.size() == kMostSources) return nullptr;
    const recording::Source source = describe(event, has_period, clock_, 0);
    RINGSIDE_ASSIGN(const std::uint32_t id, writer_->add_source(source));
    known = sources_.emplace(name, Known{id, source.kind == recording::SourceKind::kCpu}).first;
  }
  last_name_ = name;
  last_ = &known->second;
  return last_;
}

Result<void> Sources::add_statistics() const {
  for (const auto& [name, known] : sources_) {
    recording::Statistics statistics;
    statistics.source = known.id;
    statistics.lost = known.lost + (known.id == 1 ? lost_ : 0);
    statistics.due = known.due + statistics.lost;
    RINGSIDE_TRY(writer_->add_statistics(statistics));
  }
  return {};
}

}  // namespace ringside::importers::perf_script
