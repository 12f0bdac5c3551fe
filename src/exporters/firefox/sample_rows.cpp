#include "exporters/firefox/sample_rows.h"

#include <algorithm>

namespace ringside::exporters::firefox {

SampleColumns::SampleColumns(const profile::DetailedProfile& profile,
                             std::uint64_t shortest_pause_ns)
    : profile_(profile), shortest_pause_ns_(shortest_pause_ns), rows_(profile.sources().size()) {
  for (std::size_t i = 0; i < rows_.size(); ++i)
    rows_[i].values.resize(profile.sources()[i].values.size());
}

void SampleColumns::sample(const profile::TimedSample& sample) {
  SampleRows& rows = rows_[sample.source];
  for (std::size_t i = 0; i < rows.values.size(); ++i)
    rows.values[i].add(rows.size(), sample.values[i]);
  rows.times.push_back(sample.time);
  rows.groups.push_back(sample.group);
  rows.first_time = std::min(rows.first_time, sample.time);
  rows.last_time = std::max(rows.last_time, sample.time);
  const bool is_new_stop = pauses_.empty() || pauses_.back().time_ns != sample.time;
  if (sample.pause_ns > shortest_pause_ns_ && is_new_stop)
    pauses_.push_back({sample.time, sample.pause_ns});
}

void SampleColumns::event(const profile::TimedSample& sample, const profile::TimedEvent& event) {
  this->sample(sample);
  const auto [entry, added] =
      type_ids_.try_emplace(event.type.id, static_cast<std::uint32_t>(types_.size()));
  if (added) types_.push_back(event.type);
  const std::uint64_t duration = event.batch.duration(event.row);
  events_.sources.push_back(sample.source);
  events_.types.push_back(entry->second);
  events_.times.push_back(sample.time);
  events_.durations.push_back(duration);
  std::uint64_t end = 0;
  SampleRows& rows = rows_[sample.source];
  if (!__builtin_add_overflow(sample.time, duration, &end))
    rows.last_time = std::max(rows.last_time, end);
}

std::uint64_t SampleColumns::time_ns(std::size_t source, std::uint64_t time) const {
  if (profile_.sources()[source].source.clock == recording::kHostClock) return time;
  const SampleRows& rows = rows_[source];
  const std::uint64_t first = rows.first_time;
  if (time <= first || rows.last_time <= first) return 0;
  const profile::Profile& all = profile_.profile();
  const std::uint64_t duration = all.recorded ? all.recorded->duration_ns : all.totals.last_ns;
  const long double share = static_cast<long double>(std::min(time, rows.last_time) - first) /
                            static_cast<long double>(rows.last_time - first);
  return static_cast<std::uint64_t>(share * static_cast<long double>(duration));
}

}  // namespace ringside::exporters::firefox
