#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "importers/format.h"

namespace ringside::importers::perf_script {

inline constexpr const char* kEngine = "perf-script";

// Each event is a source: its period, where it is said, is the weight of a sample.
class Sources {
 public:
  struct Known {
    std::uint32_t id = 0;
    bool is_cpu = false;    // ringside's own ticks of vCPUs
    std::uint64_t due = 0;  // samples, or ticks where it has these
    std::uint64_t lost = 0;
  };

  // That of an event. Ringside's own "cpu" has ticks; clocks have nanoseconds where samples have
  // periods; others count events, or samples where nothing says how many events there were. Samples
  // without an event are of "samples", as those that ringside writes of folded stacks.
  [[nodiscard]] static recording::Source describe(std::string_view event, bool has_period,
                                                  std::uint32_t clock, std::uint64_t interval_ns);

  // The first of the recording, which is made with it.
  void begin(recording::Writer& writer, const recording::Source& first);
  // Null where there are more sources than readers take. Errors: the writer's.
  [[nodiscard]] Result<Known*> find(std::string_view event, bool has_period);
  [[nodiscard]] Result<void> add_statistics() const;
  // Counts lost samples, which perf does not ascribe to an event.
  void add_lost(std::uint64_t count) { lost_ += count; }

 private:
  recording::Writer* writer_ = nullptr;
  std::uint32_t clock_ = 0;
  std::unordered_map<std::string, Known> sources_;
  std::string last_name_;
  Known* last_ = nullptr;
  std::uint64_t lost_ = 0;
};

}  // namespace ringside::importers::perf_script
