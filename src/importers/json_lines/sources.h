#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "importers/json_lines/line.h"
#include "recording/writer.h"

namespace ringside::importers::json_lines {

// The sources of a file, the clocks of their times, and what became of their ticks.
class Sources {
 public:
  // A line with a source, in front of the first sample. Errors: kFormat where it is broken;
  // kUnsupported where no number tells it from another one of its name.
  [[nodiscard]] Result<void> add(const Item& line);
  [[nodiscard]] const std::vector<recording::Source>& all() const { return sources_; }
  // To be called when the recording is made, of all() of them.
  [[nodiscard]] Result<void> begin(recording::Writer& writer) const;

  // That of a line, by its number or, where it has none, by its name, which is that member. The
  // first where it has neither. Null: there is none.
  [[nodiscard]] const recording::Source* find(const Item& line, std::string_view member) const;
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
  [[nodiscard]] Result<void> add_name(const recording::Source& source,
                                      std::optional<std::uint64_t> number);

  std::vector<recording::Source> sources_;
  std::vector<recording::Clock> clocks_;
  std::map<std::uint64_t, std::uint32_t> clock_ids_;           // by the file's numbers
  std::map<std::uint64_t, std::uint32_t> ids_;                 // the same, of those that have one
  std::map<std::string, std::uint32_t, std::less<>> by_name_;  // the first of that name
  std::set<std::string, std::less<>> numbered_;                // names that have numbers
  struct Counted {
    std::uint64_t samples = 0;
    std::uint64_t ticks = 0;  // or samples, where the source has none
  };
  std::map<std::uint32_t, Counted> counted_;  // by source
  std::map<std::uint32_t, recording::Statistics> statistics_;
};

}  // namespace ringside::importers::json_lines
