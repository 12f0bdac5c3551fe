#include "importers/json_lines/sources.h"

#include <algorithm>
#include <limits>

#include "formats/json_lines.h"

namespace ringside::importers::json_lines {
namespace {

constexpr std::size_t kMostSources = 1000;   // readers take 1024
constexpr std::size_t kMostCounters = 1000;  // of a source
constexpr std::size_t kLongestName = 4096;   // bytes

// At most the largest number.
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  return a + std::min(b, std::numeric_limits<std::uint64_t>::max() - a);
}

}  // namespace

Result<void> Sources::add(const Item& line) {
  namespace words = formats::json_lines;
  const Item* const values = line.find("value_types");
  const auto kind = enumerator<recording::SourceKind>(words::kSourceKinds, line.text_of("kind"));
  if (sources_.size() == kMostSources || !kind || values == nullptr)
    return fail(ErrorCode::kFormat, "a source has a kind and values, and there are {} at most",
                kMostSources);
  recording::Source source;
  source.id = static_cast<std::uint32_t>(sources_.size() + 1);
  source.name = line.text_of("source_type").substr(0, kLongestName);
  source.kind = *kind;
  source.period = line.number("period").value_or(0);
  source.engine = line.text_of("engine").substr(0, kLongestName);
  for (const Item& value : values->items) {
    const auto unit = enumerator_up_to(recording::kLastWeightUnit, value.text_of("unit"));
    if (!unit) return fail(ErrorCode::kFormat, "a value has a unit");
    source.values.push_back({std::string(value.text_of("name").substr(0, kLongestName)), *unit, 1});
  }
  if (source.values.empty() || source.values.size() > recording::kMostColumns)
    return fail(ErrorCode::kFormat, "a source has 1 to {} values", recording::kMostColumns);
  if (const Item* const clock = line.find("clock"); clock != nullptr) {
    const auto of = enumerator<recording::ClockKind>(words::kClockKinds, clock->text_of("kind"));
    const auto number = clock->number("id");
    if (!of || !number) return fail(ErrorCode::kFormat, "a clock has a number and a kind");
    const auto next = static_cast<std::uint32_t>(clocks_.size() + 1);
    const auto [known, added] = clock_ids_.try_emplace(*number, next);
    if (added)
      clocks_.push_back({next, *of, std::string(clock->text_of("name").substr(0, kLongestName)),
                         clock->number("frequency").value_or(0)});
    source.clock = known->second;
  }
  RINGSIDE_TRY(add_name(source, line.number("id")));
  sources_.push_back(std::move(source));
  return {};
}

Result<void> Sources::begin(recording::Writer& writer) const {
  for (const recording::Clock& clock : clocks_) RINGSIDE_TRY(writer.add_clock(clock));
  return {};
}

// All of one name have numbers, or it is not known of which one a sample is.
Result<void> Sources::add_name(const recording::Source& source,
                               std::optional<std::uint64_t> number) {
  if (number && ids_.contains(*number))
    return fail(ErrorCode::kFormat, "another source has its id");
  const auto [known, added] = by_name_.try_emplace(source.name, source.id);
  const bool has_numbers = number && (added || numbered_.contains(source.name));
  if (!added && !has_numbers)
    return fail(ErrorCode::kUnsupported,
                "two sources are called {}, and no id tells them apart: export the recording again",
                source.name);
  if (!number) return {};
  ids_.emplace(*number, source.id);
  numbered_.insert(source.name);
  return {};
}

const recording::Source* Sources::find(const Item& line, std::string_view member) const {
  if (const auto number = line.number("source_id")) {
    const auto known = ids_.find(*number);
    return known == ids_.end() ? nullptr : &sources_[known->second - 1];
  }
  const Item* const name = line.find(member);
  if (name == nullptr) return sources_.empty() ? nullptr : &sources_.front();
  const auto known = by_name_.find(name->text);
  return known == by_name_.end() ? nullptr : &sources_[known->second - 1];
}

std::uint32_t Sources::clock(std::uint64_t number) const {
  const auto known = clock_ids_.find(number);
  return known == clock_ids_.end() ? recording::kHostClock : known->second;
}

Result<void> Sources::add_statistics(const Item& line) {
  const recording::Source* const source = find(line, "statistics");
  if (source == nullptr) return fail(ErrorCode::kFormat, "its source is not described");
  recording::Statistics statistics;
  statistics.source = source->id;
  statistics.due = line.number("due").value_or(0);
  statistics.lost = line.number("lost").value_or(0);
  statistics.late = line.number("late").value_or(0);
  statistics.duration_ns = line.number("duration_ns").value_or(0);
  if (const Item* const counters = line.find("counters"))
    for (const Item& counter : counters->items)
      if (statistics.counters.size() < kMostCounters)
        statistics.counters[counter.name.substr(0, kLongestName)] = counter.bits;
  const auto [known, added] = statistics_.try_emplace(source->id, statistics);
  if (!added) known->second += statistics;
  return {};
}

void Sources::count(std::uint32_t source, std::uint64_t ticks) {
  Counted& counted = counted_[source];
  ++counted.samples;
  counted.ticks = sum(counted.ticks, ticks);
}

Result<std::vector<std::string>> Sources::finish(recording::Writer& writer) {
  std::vector<std::string> sentences;
  if (statistics_.empty())
    sentences.emplace_back(
        "the lines end without statistics: the recording or the file was cut, and it is unknown "
        "how "
        "many ticks are lost");
  for (auto& [source, statistics] : statistics_) {
    const Counted counted = counted_[source];
    const std::uint64_t rest = statistics.due - std::min(statistics.due, statistics.lost);
    if (rest > counted.ticks) {
      statistics.lost += rest - counted.ticks;
      statistics.counters[formats::json_lines::kLostToDamage] += rest - counted.ticks;
    }
    // Older importers have counted samples of ticks.
    const bool counts_samples = sum(counted.samples, statistics.lost) == statistics.due;
    const std::uint64_t all = sum(counted.ticks, statistics.lost);
    if (all > statistics.due && !counts_samples) {
      sentences.push_back(fmt::format(
          "its lines have {} more ticks or events of the source {} than were due, as in files that "
          "are joined: all of them count as due",
          all - statistics.due, sources_[source - 1].name));
      statistics.due = all;
    }
    RINGSIDE_TRY(writer.add_statistics(statistics));
  }
  return sentences;
}

}  // namespace ringside::importers::json_lines
