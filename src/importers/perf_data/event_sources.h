#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "importers/perf_data/attributes.h"
#include "recording/writer.h"

namespace ringside::importers::perf_data {

// The events of a perf.data as sources of a recording: one value, the period, which is nanoseconds
// for clocks and a count for all else.
class EventSources {
 public:
  explicit EventSources(const Attributes& attributes) : attributes_(attributes) {}

  // All events but those without samples by their kind; `main` in any case, and in front.
  [[nodiscard]] std::vector<recording::Source> begin(std::size_t main);
  // To be called right behind the creation of the recording.
  [[nodiscard]] Result<void> start(recording::Writer& writer);

  // The source of an event, which is added if it is not there.
  [[nodiscard]] Result<std::uint32_t> source_of(std::size_t event);
  // For a sample without time.
  [[nodiscard]] std::uint64_t next_number(std::uint32_t source) {
    return counts_[source - 1].numbered++;
  }
  void count_sample(std::uint32_t source) { ++counts_[source - 1].samples; }
  // Counts for an event, before or after its source is there: by records of the ring buffer, or by
  // the kernel's own counter, which counts the same.
  void count_lost(std::size_t event, std::uint64_t lost, bool is_counter);

  [[nodiscard]] Result<void> add_statistics(std::uint64_t duration_ns);

 private:
  struct Count {
    std::size_t event = 0;
    std::uint64_t samples = 0;
    std::uint64_t numbered = 0;
  };
  struct Lost {
    std::uint64_t by_records = 0;
    std::uint64_t by_counter = 0;
  };
  // As perf calls it. The second one of the same name is "cycles#2", and so on.
  [[nodiscard]] std::string name_of(std::size_t event) const;
  [[nodiscard]] recording::Source source(std::size_t event) const;
  // Its number is that of the next source.
  void note_source(std::size_t event) {
    counts_.push_back({event});
    sources_[event] = static_cast<std::uint32_t>(counts_.size());
  }

  const Attributes& attributes_;
  recording::Writer* writer_ = nullptr;
  std::vector<std::uint32_t> sources_;  // by event; 0: not there yet
  std::vector<Count> counts_;           // by source - 1
  std::vector<Lost> lost_;              // by event
};

// The mean time between two samples; 0: not known.
[[nodiscard]] std::uint64_t interval_of(const Attribute& attribute);

}  // namespace ringside::importers::perf_data
