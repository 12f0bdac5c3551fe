#include <protozero/pbf_writer.hpp>

#include "recording/codec/columns.h"
#include "recording/codec/encode.h"
#include "recording/codec/fields.h"
#include "recording/codec/put_field.h"

namespace ringside::recording {

using protozero::pbf_writer;

void encode(const EventType& type, std::string& payload) {
  namespace f = fields::event_type;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kEventType);
  out.add_uint64(f::kId, type.id);
  put(out, f::kName, type.name);
  put(out, f::kSource, type.source);
  for (const EventField& field : type.fields) {
    pbf_writer message(out, f::kField);
    message.add_bytes(fields::event_type_field::kName, field.name);
    put_enum(message, fields::event_type_field::kType, field.type);
    put_enum(message, fields::event_type_field::kUnit, field.unit);
  }
}

void encode(const EventBatch& batch, std::string& payload) {
  namespace f = fields::event_batch;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kEventBatch);
  out.add_uint64(f::kType, batch.type);
  put(out, f::kSnapshot, batch.snapshot);
  put_times(out, f::kTime, batch.times);
  put_column(out, f::kContext, batch.contexts.size(),
             [&](auto row) { return std::uint64_t{batch.contexts[row]}; });
  put_unusual_column(out, f::kDuration, batch.durations.size(),
                     [&](auto row) { return batch.durations[row]; });
  put_unusual_column(out, f::kKey, batch.keys.size(), [&](auto row) { return batch.keys[row]; });
  for (const EventColumn& column : batch.fields) {
    if (column.bytes.empty()) {
      put_column_message(out, f::kColumn, fields::event_batch_column::kNumber, column.numbers,
                         std::int64_t{0});
      continue;
    }
    pbf_writer message(out, f::kColumn);
    for (const std::string& bytes : column.bytes)
      message.add_bytes(fields::event_batch_column::kBytes, bytes);
  }
}

void encode(const Snapshot& snapshot, std::string& payload) {
  namespace f = fields::snapshot;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kSnapshot);
  out.add_uint64(f::kId, snapshot.id);
  put(out, f::kTime, snapshot.time);
  put(out, f::kClock, snapshot.clock);
  put(out, f::kReason, snapshot.reason);
}

void encode(const CounterSet& set, std::string& payload) {
  namespace f = fields::counter_set;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kCounterSet);
  out.add_uint64(f::kId, set.id);
  put(out, f::kName, set.name);
  put(out, f::kSource, set.source);
  for (const KeyPart& part : set.key) {
    pbf_writer message(out, f::kKey);
    message.add_bytes(fields::counter_set_key_part::kName, part.name);
    put_enum(message, fields::counter_set_key_part::kKind, part.kind);
  }
}

void encode(const Mark& mark, std::string& payload) {
  namespace f = fields::mark;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kMark);
  out.add_uint64(f::kId, mark.id);
  put_enum(out, f::kKind, mark.kind);
  put(out, f::kTime, mark.time_ns);
  put(out, f::kName, mark.name);
}

void encode(const CounterBatch& batch, std::string& payload) {
  namespace f = fields::counter_batch;
  pbf_writer records(payload);
  pbf_writer out(records, fields::records::kCounterBatch);
  out.add_uint64(f::kSet, batch.set);
  put(out, f::kMark, batch.mark);
  for (std::size_t part = 0; part < batch.keys.size(); ++part) {
    const std::vector<std::uint64_t>& values = batch.keys[part];
    // The first one says how many rows there are.
    if (part > 0) {
      put_column_message(out, f::kKey, fields::counter_batch_key::kPart, values, std::uint64_t{0});
      continue;
    }
    pbf_writer message(out, f::kKey);
    message.add_packed_uint64(fields::counter_batch_key::kPart, values.begin(), values.end());
  }
  for (const auto& values : batch.values)
    put_column_message(out, f::kValues, fields::counter_batch_values::kValue, values,
                       std::int64_t{1});
}

}  // namespace ringside::recording
