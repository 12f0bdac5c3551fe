#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "recording/events.h"

namespace ringside::profile {

// One of the values that the source of an event type has: how many there are, how long they took,
// or a field that is an integer.
class EventValue {
 public:
  // `index`: the value's, among those of the source; `name`: its name.
  EventValue(const recording::EventType& type, std::size_t index, const std::string& name);
  // Not scaled; 0 where the events have no such field.
  [[nodiscard]] std::uint64_t of(const recording::EventBatch& batch, std::size_t row) const;

 private:
  enum class Kind : std::uint8_t { kCount, kDuration, kField, kNone };
  Kind kind_ = Kind::kNone;
  std::size_t field_ = 0;
};

}  // namespace ringside::profile
