#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "profile/builder.h"
#include "recording/sources.h"

namespace ringside::profile {

// Which sources and values of a recording a profile is made of.
class SourceChoice {
 public:
  explicit SourceChoice(const BuildOptions& options) : options_(options) {}

  void add(const recording::Clock& clock) { clocks_.push_back(clock); }
  // The next source of the recording.
  void add(const recording::Source& source);
  // Counts `samples` of that source. The value that is wanted of each; null: they are left out.
  struct Value {
    std::size_t index = 0;
    std::uint64_t scale = 1;
    std::string name;
    bool is_cpu = false;         // its source takes ticks of vCPUs
    bool has_host_time = false;  // its times are of the host's clock, as those of names are
    // The value of its source that counts samples: a record stands for so many. Absent: for one.
    std::optional<std::size_t> samples;
  };
  [[nodiscard]] const Value* take(std::uint32_t source, std::uint64_t samples);

  // To be called when everything has been read. Fills what the profile has of sources. Errors:
  // those of build_profile().
  [[nodiscard]] Result<void> finish(Profile& profile) const;
  // Those that are chosen, in order of the recording.
  [[nodiscard]] std::vector<recording::Source> chosen() const;
  // That of a source's times; the host's counts nanoseconds.
  [[nodiscard]] recording::Clock clock_of(const recording::Source& source) const;
  // Whether that source's statistics count.
  [[nodiscard]] bool is_chosen(std::uint32_t source) const;

 private:
  struct Known {
    recording::Source source;
    bool is_chosen = false;
    bool has_value = false;
    Value value;
    std::uint64_t samples = 0;
  };
  [[nodiscard]] std::string listed() const;
  // Null for the host's.
  [[nodiscard]] const recording::Clock* clock_named(std::uint32_t id) const;

  const BuildOptions& options_;
  std::vector<Known> sources_;
  std::vector<recording::Clock> clocks_;
};

}  // namespace ringside::profile
