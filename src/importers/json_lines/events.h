#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "importers/json_lines/line.h"
#include "importers/json_lines/sources.h"
#include "importers/json_lines/stacks.h"
#include "recording/writer.h"

namespace ringside::importers::json_lines {

// Events of a file, and the types and snapshots that they are of.
class Events {
 public:
  // All outlive it.
  Events(const Sources& sources, Stacks& stacks, recording::Writer& writer)
      : sources_(sources), stacks_(stacks), writer_(writer) {}

  // Errors of each: kFormat for a line that is broken; kUnsupported for a type that no number tells
  // from another one of its name; the writer's.
  [[nodiscard]] Result<void> add_type(const Item& line);
  [[nodiscard]] Result<void> add_snapshot(const Item& line);
  // Null: there is no such type.
  [[nodiscard]] const recording::Source* source_of(const Item& line) const;
  [[nodiscard]] Result<void> add(const Item& line, const recording::SampleInfo& info,
                                 const std::vector<recording::StackRef>& stacks);
  // Writes those that wait: to be called in front of an epoch, and at the end.
  [[nodiscard]] Result<void> flush();

 private:
  // The event's, by its number or, where it has none, by its name. Null: there is none.
  [[nodiscard]] const recording::EventType* type_of(const Item& line) const;
  [[nodiscard]] Result<void> check_name(const recording::EventType& type,
                                        std::optional<std::uint64_t> number) const;
  [[nodiscard]] Result<std::int64_t> number_of(recording::FieldType type, const Item& field);
  [[nodiscard]] Result<void> begin_row(std::uint32_t type, const Item& line);

  const Sources& sources_;
  Stacks& stacks_;
  recording::Writer& writer_;
  std::vector<recording::EventType> types_;                    // by id - 1
  std::map<std::string, std::uint32_t, std::less<>> by_name_;  // the first of that name
  std::map<std::uint64_t, std::uint32_t> ids_;                 // by the file's numbers
  std::set<std::string, std::less<>> numbered_;                // names that have numbers
  std::map<std::uint64_t, std::uint32_t> snapshots_;           // by the file's numbers
  recording::EventBatch batch_;                                // those that wait
};

}  // namespace ringside::importers::json_lines
