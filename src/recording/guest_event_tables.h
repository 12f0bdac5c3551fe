#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "recording/writer.h"
#include "wire/guest_record.h"

namespace ringside::recording {

// Allocations and events that a guest has recorded itself, as tables of a recording: one for each
// allocator and unit, and one for each name of an event and number of its numbers.
//
// The type of an allocator's events has the allocator's name, a source of kind kAllocations with
// the values "count" and "size", and the fields below.
class GuestEventTables {
 public:
  static constexpr const char* kOperation = "operation";  // text: "alloc", "realloc", "free"
  static constexpr const char* kPointer = "pointer";
  static constexpr const char* kOld = "old";    // a realloc's pointer before; 0 where unknown
  static constexpr const char* kSize = "size";  // in the source's unit

  // `clock` is that of all times.
  GuestEventTables(Writer& writer, std::uint32_t clock) : writer_(writer), clock_(clock) {}

  // The source of an allocator's events, for a recording whose first source it is.
  [[nodiscard]] static Source source_of(const wire::GuestAllocation& allocation,
                                        std::uint32_t clock);
  // The recording has the source of the first allocation that comes, with that id.
  void has_first_source(std::uint32_t id) { first_source_ = id; }

  // `context` is the writer's: who did it, and where. Errors: the writer's.
  [[nodiscard]] Result<void> add(const wire::GuestAllocation& allocation, std::uint64_t time,
                                 std::uint32_t context);
  [[nodiscard]] Result<void> add(const wire::GuestEvent& event, std::uint64_t time,
                                 std::uint32_t context);
  // Writes what was gathered.
  [[nodiscard]] Result<void> flush();
  // Events for whose names there was no table any more.
  [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

 private:
  static constexpr std::size_t kRows = 4096;        // of a table, before they are written
  static constexpr std::size_t kMostTables = 1024;  // a damaged stream may have any names

  using Key = std::pair<std::string, std::size_t>;
  using Tables = std::map<Key, EventBatch>;

  // Null where there are too many tables.
  [[nodiscard]] Result<EventBatch*> new_table(Tables& tables, Key key, Source source,
                                              std::vector<EventField> fields);
  [[nodiscard]] Result<EventBatch*> table_of(const wire::GuestAllocation& allocation);
  [[nodiscard]] Result<EventBatch*> table_of(const wire::GuestEvent& event);
  [[nodiscard]] Result<void> end_row(EventBatch& table, std::uint64_t time, std::uint32_t context);
  [[nodiscard]] Result<void> write(EventBatch& table);

  Writer& writer_;
  std::uint32_t clock_;
  Tables allocations_;
  Tables events_;
  std::uint32_t first_source_ = 0;  // 0: it is to be added
  std::uint64_t left_out_ = 0;
};

}  // namespace ringside::recording
