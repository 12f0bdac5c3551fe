#pragma once

#include <map>
#include <string>
#include <vector>

#include "importers/json_lines/line.h"
#include "recording/writer.h"

namespace ringside::importers::json_lines {

// The sources of a file, the clocks of their times, and what became of their ticks.
class Sources {
 public:
  // A line with a source, in front of the first sample. Errors: kFormat where it is broken.
  [[nodiscard]] Result<void> add(const Item& line);
  [[nodiscard]] const std::vector<recording::Source>& all() const { return sources_; }
  // To be called when the recording is made, of all() of them.
  [[nodiscard]] Result<void> begin(recording::Writer& writer) const;

  // By its name; the first where that is empty. Null: there is none.
  [[nodiscard]] const recording::Source* find(std::string_view name) const;
  // The clock that a file has under that number.
  [[nodiscard]] std::uint32_t clock(std::uint64_t number) const;

  // A sample of so many ticks, or an event.
  void count(std::uint32_t source, std::uint64_t ticks);
  // Takes the line of a source; several of one source are added. Errors: kFormat where its source
  // is not there.
  [[nodiscard]] Result<void> add_statistics(const Item& line);
  // Writes the statistics, where there are any. Ticks that are due and in no line count as lost.
  // Returns sentences on what does not fit together. Errors: the writer's.
  [[nodiscard]] Result<std::vector<std::string>> finish(recording::Writer& writer);

 private:
  std::vector<recording::Source> sources_;
  std::vector<recording::Clock> clocks_;
  std::map<std::uint64_t, std::uint32_t> clock_ids_;  // by the file's numbers
  struct Counted {
    std::uint64_t samples = 0;
    std::uint64_t ticks = 0;  // or samples, where the source has none
  };
  std::map<std::uint32_t, Counted> counted_;  // by source
  std::map<std::uint32_t, recording::Statistics> statistics_;
};

}  // namespace ringside::importers::json_lines
