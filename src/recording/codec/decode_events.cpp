#include <algorithm>

#include "recording/codec/columns.h"
#include "recording/codec/decode.h"
#include "recording/codec/decode_field.h"
#include "recording/codec/fields.h"

namespace ringside::recording {
namespace {

EventField decode_event_field(pbf_reader message) {
  namespace f = fields::event_type_field;
  EventField field;
  field.unit = WeightUnit::kTicks;
  while (message.next()) switch (message.tag()) {
      case f::kName:
        field.name = get_text(message);
        break;
      case f::kType:
        field.type = get_enum(message, kLastFieldType, FieldType::kBytes);
        break;
      case f::kUnit:
        field.unit = get_enum(message, kLastWeightUnit, WeightUnit::kCount);
        break;
      default:
        message.skip();
    }
  return field;
}

EventColumn decode_event_column(pbf_reader message) {
  namespace f = fields::event_batch_column;
  EventColumn column;
  while (message.next()) switch (message.tag()) {
      case f::kNumber:
        if (!is_bytes(message)) {
          message.skip();
          break;
        }
        for (const std::int64_t value : message.get_packed_sint64())
          add_row(column.numbers) = value;
        break;
      case f::kBytes:
        add_row(column.bytes) = get_text(message);
        break;
      default:
        message.skip();
    }
  return column;
}

KeyPart decode_key_part(pbf_reader message) {
  namespace f = fields::counter_set_key_part;
  KeyPart part;
  part.kind = KeyKind::kImage;
  while (message.next()) switch (message.tag()) {
      case f::kName:
        part.name = get_text(message);
        break;
      case f::kKind:
        part.kind = get_enum(message, kLastKeyKind, KeyKind::kNumber);
        break;
      default:
        message.skip();
    }
  return part;
}

}  // namespace

EventType decode_event_type(pbf_reader message) {
  namespace f = fields::event_type;
  EventType type;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        type.id = get_small(message);
        break;
      case f::kName:
        type.name = get_text(message);
        break;
      case f::kSource:
        type.source = get_small(message);
        break;
      case f::kField:
        if (type.fields.size() == kMostColumns)
          message.skip();
        else
          type.fields.push_back(decode_event_field(get_message(message)));
        break;
      default:
        message.skip();
    }
  return type;
}

EventBatch decode_event_batch(pbf_reader message) {
  namespace f = fields::event_batch;
  EventBatch batch;
  while (message.next()) switch (message.tag()) {
      case f::kType:
        batch.type = get_small(message);
        break;
      case f::kSnapshot:
        batch.snapshot = get_small(message);
        break;
      case f::kTime:
        read_first_differences(message, batch.times,
                               [](std::uint64_t& time, std::uint64_t value) { time = value; });
        break;
      case f::kContext:
        read_first_column(message, batch.contexts, [](std::uint32_t& id, std::uint64_t value) {
          id = static_cast<std::uint32_t>(value);
        });
        break;
      case f::kDuration:
        read_first_column(message, batch.durations,
                          [](std::uint64_t& duration, std::uint64_t value) { duration = value; });
        break;
      case f::kKey:
        read_first_column(message, batch.keys,
                          [](std::uint64_t& key, std::uint64_t value) { key = value; });
        break;
      case f::kColumn:
        if (batch.fields.size() == kMostColumns)
          message.skip();
        else
          batch.fields.push_back(decode_event_column(get_message(message)));
        break;
      default:
        message.skip();
    }
  const std::size_t rows = std::min(batch.times.size(), batch.contexts.size());
  batch.times.resize(rows);
  batch.contexts.resize(rows);
  fit(batch.durations, rows, std::uint64_t{0});
  fit(batch.keys, rows, std::uint64_t{0});
  for (EventColumn& column : batch.fields) {
    fit(column.numbers, rows, std::int64_t{0});
    if (column.bytes.size() < rows) column.bytes.clear();
    column.bytes.resize(std::min(column.bytes.size(), rows));
  }
  return batch;
}

Snapshot decode_snapshot(pbf_reader message) {
  namespace f = fields::snapshot;
  Snapshot snapshot;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        snapshot.id = get_small(message);
        break;
      case f::kTime:
        snapshot.time = get_number(message);
        break;
      case f::kClock:
        snapshot.clock = get_small(message);
        break;
      case f::kReason:
        snapshot.reason = get_text(message);
        break;
      default:
        message.skip();
    }
  return snapshot;
}

CounterSet decode_counter_set(pbf_reader message) {
  namespace f = fields::counter_set;
  CounterSet set;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        set.id = get_small(message);
        break;
      case f::kName:
        set.name = get_text(message);
        break;
      case f::kSource:
        set.source = get_small(message);
        break;
      case f::kKey:
        if (set.key.size() == kMostColumns)
          message.skip();
        else
          set.key.push_back(decode_key_part(get_message(message)));
        break;
      default:
        message.skip();
    }
  return set;
}

Mark decode_mark(pbf_reader message) {
  namespace f = fields::mark;
  Mark mark;
  while (message.next()) switch (message.tag()) {
      case f::kId:
        mark.id = get_small(message);
        break;
      case f::kKind:
        mark.kind = get_enum(message, kLastMarkKind, MarkKind::kProbe);
        break;
      case f::kTime:
        mark.time_ns = get_number(message);
        break;
      case f::kName:
        mark.name = get_text(message);
        break;
      default:
        message.skip();
    }
  return mark;
}

CounterBatch decode_counter_batch(pbf_reader message) {
  namespace f = fields::counter_batch;
  CounterBatch batch;
  while (message.next()) switch (message.tag()) {
      case f::kSet:
        batch.set = get_small(message);
        break;
      case f::kMark:
        batch.mark = get_small(message);
        break;
      case f::kKey:
        if (batch.keys.size() == kMostColumns)
          message.skip();
        else
          read_column_message(get_message(message), fields::counter_batch_key::kPart,
                              batch.keys.emplace_back());
        break;
      case f::kValues:
        if (batch.values.size() == kMostColumns)
          message.skip();
        else
          read_column_message(get_message(message), fields::counter_batch_values::kValue,
                              batch.values.emplace_back());
        break;
      default:
        message.skip();
    }
  for (auto& part : batch.keys) fit(part, batch.size(), std::uint64_t{0});
  for (auto& values : batch.values) fit(values, batch.size(), std::int64_t{1});
  return batch;
}

}  // namespace ringside::recording
