#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <vector>

#include "profile/detailed_profile.h"

namespace ringside::exporters::firefox {

// Numbers that are mostly 1: takes no memory as long as all of them are.
class MostlyOnes {
 public:
  // The next one; `index` counts from 0.
  void add(std::size_t index, std::int64_t value) {
    if (!numbers_ && value == 1) return;
    if (!numbers_) numbers_.emplace(index, 1);
    numbers_->push_back(value);
  }
  [[nodiscard]] bool are_ones() const { return !numbers_; }
  [[nodiscard]] std::int64_t operator[](std::size_t index) const {
    return numbers_ ? (*numbers_)[index] : 1;
  }

 private:
  std::optional<std::deque<std::int64_t>> numbers_;
};

// The samples of one source, and its events as samples.
struct SampleRows {
  std::deque<std::uint64_t> times;  // by the source's clock
  std::deque<std::uint32_t> groups;
  std::vector<MostlyOnes> values;
  std::uint64_t first_time = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last_time = 0;  // with the durations of events

  [[nodiscard]] std::size_t size() const { return times.size(); }
};

// The events of all sources, without their fields.
struct EventRows {
  std::deque<std::uint32_t> sources;
  std::deque<std::uint32_t> types;  // in SampleColumns::event_types()
  std::deque<std::uint64_t> times;
  std::deque<std::uint64_t> durations;
  [[nodiscard]] std::size_t size() const { return times.size(); }
};

struct Pause {
  std::uint64_t time_ns = 0;
  std::uint64_t duration_ns = 0;
};

// Everything that is counted, in columns: 12 bytes a sample of weight 1.
class SampleColumns final : public profile::SampleReceiver {
 public:
  // Pauses are kept that are longer than `shortest_pause_ns`.
  SampleColumns(const profile::DetailedProfile& profile, std::uint64_t shortest_pause_ns);
  void sample(const profile::TimedSample& sample) override;
  void event(const profile::TimedSample& sample, const profile::TimedEvent& event) override;

  [[nodiscard]] const SampleRows& of_source(std::size_t source) const { return rows_[source]; }
  [[nodiscard]] const EventRows& events() const { return events_; }
  [[nodiscard]] const std::vector<recording::EventType>& event_types() const { return types_; }
  [[nodiscard]] std::uint32_t type_index(std::uint32_t id) const { return type_ids_.at(id); }
  // One for each stop.
  [[nodiscard]] const std::vector<Pause>& pauses() const { return pauses_; }

  // Nanoseconds since the start. Times of a clock that is not the host's are spread over the
  // recording: its first time is 0, its last one the recording's end.
  [[nodiscard]] std::uint64_t time_ns(std::size_t source, std::uint64_t time) const;

 private:
  const profile::DetailedProfile& profile_;
  std::uint64_t shortest_pause_ns_;
  std::vector<SampleRows> rows_;  // by source
  EventRows events_;
  std::vector<recording::EventType> types_;
  std::map<std::uint32_t, std::uint32_t> type_ids_;
  std::vector<Pause> pauses_;
};

}  // namespace ringside::exporters::firefox
