#include "recording/guest_event_tables.h"

#include <fmt/core.h>

#include <array>
#include <utility>

namespace ringside::recording {
namespace {

constexpr std::array<std::string_view, 3> kOperations = {"alloc", "realloc", "free"};
constexpr std::array<WeightUnit, 3> kUnits = {WeightUnit::kBytes, WeightUnit::kPages,
                                              WeightUnit::kCount};

WeightUnit unit_of(const wire::GuestAllocation& allocation) {
  return kUnits[static_cast<std::size_t>(allocation.unit)];
}

}  // namespace

Source GuestEventTables::source_of(const wire::GuestAllocation& allocation, std::uint32_t clock) {
  return {.name = std::string(allocation.allocator),
          .kind = SourceKind::kAllocations,
          .clock = clock,
          .engine = {},
          .values = {{"count", WeightUnit::kCount, 1}, {kSize, unit_of(allocation), 1}}};
}

Result<EventBatch*> GuestEventTables::new_table(Tables& tables, Key key, Source source,
                                                std::vector<EventField> fields) {
  if (allocations_.size() + events_.size() >= kMostTables) return nullptr;
  EventBatch table;
  table.fields.resize(fields.size());
  EventType type{.id = 0, .name = source.name, .source = 0, .fields = std::move(fields)};
  type.source = std::exchange(first_source_, 0);
  if (type.source == 0) {
    RINGSIDE_ASSIGN(type.source, writer_.add_source(source));
  }
  RINGSIDE_ASSIGN(table.type, writer_.add_event_type(type));
  return &tables.emplace(std::move(key), std::move(table)).first->second;
}

Result<EventBatch*> GuestEventTables::table_of(const wire::GuestAllocation& allocation) {
  Key key{allocation.allocator, static_cast<std::size_t>(allocation.unit)};
  if (const auto known = allocations_.find(key); known != allocations_.end()) return &known->second;
  return new_table(allocations_, std::move(key), source_of(allocation, clock_),
                   {{kOperation, FieldType::kText},
                    {kPointer, FieldType::kAddress},
                    {kOld, FieldType::kAddress},
                    {kSize, FieldType::kInteger, unit_of(allocation)}});
}

Result<EventBatch*> GuestEventTables::table_of(const wire::GuestEvent& event) {
  Key key{event.name, event.numbers.size()};
  if (const auto known = events_.find(key); known != events_.end()) return &known->second;
  Source source{.name = key.first,
                .kind = SourceKind::kProbe,
                .clock = clock_,
                .engine = {},
                .values = {{"count", WeightUnit::kCount, 1}}};
  std::vector<EventField> fields;
  for (std::size_t n = 0; n < event.numbers.size(); ++n)
    fields.push_back({fmt::format("n{}", n), FieldType::kInteger});
  return new_table(events_, std::move(key), std::move(source), std::move(fields));
}

Result<void> GuestEventTables::add(const wire::GuestAllocation& allocation, std::uint64_t time,
                                   std::uint32_t context) {
  RINGSIDE_ASSIGN(EventBatch* const table, table_of(allocation));
  if (table == nullptr) {
    ++left_out_;
    return {};
  }
  const auto operation = static_cast<std::size_t>(allocation.operation);
  RINGSIDE_ASSIGN(const std::uint32_t text, writer_.add_text(kOperations[operation]));
  const std::array<std::uint64_t, 4> row = {text, allocation.pointer, allocation.old,
                                            allocation.size};
  for (std::size_t n = 0; n < row.size(); ++n)
    table->fields[n].numbers.push_back(static_cast<std::int64_t>(row[n]));
  return end_row(*table, time, context);
}

Result<void> GuestEventTables::add(const wire::GuestEvent& event, std::uint64_t time,
                                   std::uint32_t context) {
  RINGSIDE_ASSIGN(EventBatch* const table, table_of(event));
  if (table == nullptr) {
    ++left_out_;
    return {};
  }
  for (std::size_t n = 0; n < event.numbers.size(); ++n)
    table->fields[n].numbers.push_back(static_cast<std::int64_t>(event.numbers[n]));
  return end_row(*table, time, context);
}

Result<void> GuestEventTables::end_row(EventBatch& table, std::uint64_t time,
                                       std::uint32_t context) {
  table.times.push_back(time);
  table.contexts.push_back(context);
  return table.size() < kRows ? Result<void>() : write(table);
}

Result<void> GuestEventTables::write(EventBatch& table) {
  if (table.size() == 0) return {};
  RINGSIDE_TRY(writer_.add_events(table));
  table.times.clear();
  table.contexts.clear();
  for (EventColumn& column : table.fields) column.numbers.clear();
  return {};
}

Result<void> GuestEventTables::flush() {
  for (Tables* const tables : {&allocations_, &events_})
    for (auto& [key, table] : *tables) RINGSIDE_TRY(write(table));
  return {};
}

}  // namespace ringside::recording
