#include "recording/events.h"

#include <algorithm>
#include <cstddef>

namespace ringside::recording {
namespace {

template <class Value>
std::vector<Value> rows_of(const std::vector<Value>& column, std::size_t from, std::size_t most) {
  if (column.empty()) return {};
  const auto begin = column.begin() + static_cast<std::ptrdiff_t>(from);
  const std::size_t count = std::min(most, column.size() - from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

EventBatch rows_of(const EventBatch& batch, std::size_t from, std::size_t most) {
  EventBatch part{batch.type,
                  batch.snapshot,
                  rows_of(batch.times, from, most),
                  rows_of(batch.contexts, from, most),
                  rows_of(batch.durations, from, most),
                  rows_of(batch.keys, from, most),
                  {}};
  for (const EventColumn& column : batch.fields)
    part.fields.push_back({rows_of(column.numbers, from, most), rows_of(column.bytes, from, most)});
  return part;
}

CounterBatch rows_of(const CounterBatch& batch, std::size_t from, std::size_t most) {
  CounterBatch part{batch.set, batch.mark, {}, {}};
  for (const auto& column : batch.keys) part.keys.push_back(rows_of(column, from, most));
  for (const auto& column : batch.values) part.values.push_back(rows_of(column, from, most));
  return part;
}

}  // namespace ringside::recording
