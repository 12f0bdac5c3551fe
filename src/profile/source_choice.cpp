#include "profile/source_choice.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "profile/sanitize.h"

namespace ringside::profile {
namespace {

std::vector<std::string> value_names(const recording::Source& source) {
  std::vector<std::string> names;
  for (const recording::ValueType& value : source.values) names.push_back(sanitize(value.name));
  return names;
}

// This value of the source says how many samples a record stands for.
std::optional<std::size_t> value_of_samples(const recording::Source& source) {
  for (std::size_t i = 0; i < source.values.size(); ++i)
    if (source.values[i].unit == recording::WeightUnit::kSamples) return i;
  return std::nullopt;
}

}  // namespace

void SourceChoice::add(const recording::Source& source) {
  Known known{source, false, false, {}, 0};
  for (std::size_t i = 0; i < source.values.size() && !known.has_value; ++i) {
    if (!options_.value.empty() && source.values[i].name != options_.value) continue;
    known.has_value = true;
    known.value = {i,
                   source.values[i].scale,
                   source.values[i].name,
                   source.kind == recording::SourceKind::kCpu,
                   source.clock == recording::kHostClock,
                   value_of_samples(source)};
  }
  const std::vector<std::string>& wanted = options_.sources;
  if (!wanted.empty())
    known.is_chosen = std::find(wanted.begin(), wanted.end(), source.name) != wanted.end();
  else
    known.is_chosen = options_.every_source ? known.has_value : sources_.empty();
  sources_.push_back(std::move(known));
}

std::vector<recording::Source> SourceChoice::chosen() const {
  std::vector<recording::Source> sources;
  for (const Known& known : sources_)
    if (known.is_chosen) sources.push_back(known.source);
  return sources;
}

const SourceChoice::Value* SourceChoice::take(std::uint32_t source, std::uint64_t samples) {
  for (Known& known : sources_) {
    if (known.source.id != source) continue;
    known.samples += samples;
    return known.is_chosen && known.has_value ? &known.value : nullptr;
  }
  return nullptr;
}

bool SourceChoice::is_chosen(std::uint32_t source) const {
  return std::any_of(sources_.begin(), sources_.end(), [&](const Known& known) {
    return known.is_chosen && known.source.id == source;
  });
}

const recording::Clock* SourceChoice::clock_named(std::uint32_t id) const {
  const auto found = std::find_if(clocks_.begin(), clocks_.end(),
                                  [&](const recording::Clock& clock) { return clock.id == id; });
  return found == clocks_.end() ? nullptr : &*found;
}

recording::Clock SourceChoice::clock_of(const recording::Source& source) const {
  const recording::Clock* const clock = clock_named(source.clock);
  if (clock != nullptr) return *clock;
  return {recording::kHostClock, recording::ClockKind::kHostMonotonic, {}, 1'000'000'000};
}

// "cpu (ticks), allocations (count, bytes)".
std::string SourceChoice::listed() const {
  if (sources_.empty()) return "no source";
  std::vector<std::string> texts;
  for (const Known& known : sources_)
    texts.push_back(fmt::format("{} ({})", sanitize(known.source.name),
                                fmt::join(value_names(known.source), ", ")));
  return fmt::format("{}", fmt::join(texts, ", "));
}

Result<void> SourceChoice::finish(Profile& profile) const {
  for (const std::string& wanted : options_.sources)
    if (std::none_of(sources_.begin(), sources_.end(),
                     [&](const Known& known) { return known.source.name == wanted; }))
      return fail(ErrorCode::kUsage, "there is no source {}; the recording has {}", wanted,
                  listed());
  if (!sources_.empty() && options_.every_source && options_.sources.empty() &&
      std::none_of(sources_.begin(), sources_.end(),
                   [](const Known& known) { return known.is_chosen; }))
    return fail(ErrorCode::kUsage, "no source has a value {}; the recording has {}", options_.value,
                listed());
  const Known* first = nullptr;
  std::vector<std::string> names;
  for (const Known& known : sources_) {
    if (!known.is_chosen) {
      if (known.samples > 0)
        profile.other_sources.push_back(
            {sanitize(known.source.name), value_names(known.source), known.samples});
      continue;
    }
    if (!known.has_value)
      return fail(ErrorCode::kUsage, "the source {} has no value {}; the recording has {}",
                  known.source.name, options_.value, listed());
    if (known.source.clock != recording::kHostClock &&
        (options_.filter.is_of_some_time() || options_.span_ns != 0))
      return fail(
          ErrorCode::kUsage,
          "the times of {} are not seconds of the host, so neither --time nor --sort time goes "
          "with it",
          known.source.name);
    const recording::ValueType& value = known.source.values[known.value.index];
    if (!options_.every_source && first != nullptr &&
        first->source.values[first->value.index].unit != value.unit)
      return fail(ErrorCode::kUsage,
                  "the values of {} and {} have several units: choose one source, or a value; the "
                  "recording has {}",
                  first->source.name, known.source.name, listed());
    if (first == nullptr) {
      first = &known;
      profile.unit = value.unit;
      profile.value = sanitize(value.name);
    }
    profile.is_of_ticks &= known.source.kind == recording::SourceKind::kCpu;
    if (const recording::Clock* const clock = clock_named(known.source.clock)) {
      profile.has_times &= clock->kind != recording::ClockKind::kEventNumber;
      profile.has_seconds &= clock->frequency != 0;
    }
    names.push_back(sanitize(known.source.name));
  }
  profile.source = fmt::format("{}", fmt::join(names, ","));
  return {};
}

}  // namespace ringside::profile
