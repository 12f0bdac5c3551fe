#include "importers/perf_data/event_sources.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "formats/perf_data.h"
#include "importers/parts/event_numbers.h"

namespace ringside::importers::perf_data {

using namespace formats::perf_data;
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

}  // namespace

std::uint64_t interval_of(const Attribute& attribute) {
  if (attribute.has_frequency()) return attribute.period == 0 ? 0 : kSecond / attribute.period;
  return attribute.counts_time() ? attribute.period : 0;
}

std::string EventSources::name_of(std::size_t event) const {
  const std::vector<Attribute>& all = attributes_.all();
  const auto place = all.begin() + static_cast<std::ptrdiff_t>(event);
  const auto before = std::count_if(all.begin(), place, [&](const Attribute& attribute) {
    return attribute.name == place->name;
  });
  return before == 0 ? place->name : fmt::format("{}#{}", place->name, before + 1);
}

recording::Source EventSources::source(std::size_t event) const {
  const Attribute& attribute = attributes_.all()[event];
  recording::Source source;
  source.name = name_of(event);
  source.kind = recording::SourceKind::kOther;
  source.clock = attribute.has(sample::kTime) ? recording::kHostClock : kEventNumbers;
  if (source.clock == recording::kHostClock) source.period = interval_of(attribute);
  source.values = {{"period",
                    attribute.counts_time() ? recording::WeightUnit::kNanoseconds
                                            : recording::WeightUnit::kCount,
                    1}};
  return source;
}

std::vector<recording::Source> EventSources::begin(std::size_t main) {
  std::vector<recording::Source> all{source(main)};
  sources_.resize(attributes_.all().size());
  note_source(main);
  for (std::size_t event = 0; event < sources_.size(); ++event) {
    if (attributes_.all()[event].is_dummy() || event == main) continue;
    all.push_back(source(event));
    note_source(event);
  }
  return all;
}

Result<void> EventSources::start(recording::Writer& writer) {
  writer_ = &writer;
  const bool has_numbers =
      std::any_of(attributes_.all().begin(), attributes_.all().end(),
                  [](const Attribute& attribute) { return !attribute.has(sample::kTime); });
  return has_numbers ? add_event_numbers(writer) : Result<void>();
}

Result<std::uint32_t> EventSources::source_of(std::size_t event) {
  if (event >= sources_.size()) sources_.resize(event + 1);
  if (sources_[event] == 0) {
    RINGSIDE_ASSIGN(sources_[event], writer_->add_source(source(event)));
    counts_.push_back({event});
  }
  return sources_[event];
}

void EventSources::count_lost(std::size_t event, std::uint64_t lost, bool is_counter) {
  if (event >= lost_.size()) lost_.resize(event + 1);
  (is_counter ? lost_[event].by_counter : lost_[event].by_records) += lost;
}

Result<void> EventSources::add_statistics(std::uint64_t duration_ns) {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    recording::Statistics statistics;
    statistics.source = static_cast<std::uint32_t>(i + 1);
    if (counts_[i].event < lost_.size()) {
      const Lost& lost = lost_[counts_[i].event];
      statistics.lost = std::max(lost.by_records, lost.by_counter);
    }
    statistics.due = counts_[i].samples + statistics.lost;
    statistics.duration_ns = duration_ns;
    RINGSIDE_TRY(writer_->add_statistics(statistics));
  }
  return {};
}

}  // namespace ringside::importers::perf_data
