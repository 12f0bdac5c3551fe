#include "recording/replay.h"

// Events and counters: what their columns refer to.
namespace ringside::recording {

void Replay::event_type(protozero::pbf_reader message) {
  EventType type = decode_event_type(message);
  if (sources_.count(type.source) == 0 || !may_add_entry(1 + type.fields.size())) return;
  if (const auto [it, added] = event_types_.try_emplace(type.id, type); added)
    visitor_.event_type(type);
}

void Replay::leave_out_undescribed() {
  leave_out_once(said_undescribed_,
                 "events and counters are left out, of which the description is lost");
}

void Replay::event_batch(protozero::pbf_reader message) {
  EventBatch batch = decode_event_batch(message);
  const auto type = event_types_.find(batch.type);
  if (type == event_types_.end()) return leave_out_undescribed();
  if (!may_add_rows(batch.size())) return;
  batch.snapshot = snapshots_.count(batch.snapshot) != 0 ? batch.snapshot : 0;
  resolve_contexts(batch.contexts);
  batch.fields.resize(type->second.fields.size());
  for (std::size_t i = 0; i < batch.fields.size(); ++i) {
    EventColumn& column = batch.fields[i];
    const FieldType of = type->second.fields[i].type;
    if (of != FieldType::kBytes) column.bytes.clear();
    if (of == FieldType::kBytes) column.numbers.clear();
    if (of != FieldType::kText && of != FieldType::kSymbol) continue;
    const IdMap& ids = of == FieldType::kText ? text_ids_ : frame_ids_;
    for (std::int64_t& number : column.numbers)
      number = ids.find(static_cast<std::uint32_t>(number)).value_or(0);
  }
  visitor_.events(batch);
}

void Replay::counter_set(protozero::pbf_reader message) {
  CounterSet set = decode_counter_set(message);
  if (sources_.count(set.source) == 0 || set.key.empty() || !may_add_entry(1 + set.key.size()))
    return;
  if (const auto [it, added] = counter_sets_.try_emplace(set.id, set); added)
    visitor_.counter_set(set);
}

void Replay::counter_batch(protozero::pbf_reader message) {
  CounterBatch batch = decode_counter_batch(message);
  const auto set = counter_sets_.find(batch.set);
  if (set == counter_sets_.end()) return leave_out_undescribed();
  // Readers hold them by key.
  if (batch.size() == 0 || !may_add_rows(batch.size()) || !may_add_entry(batch.size())) return;
  batch.mark = marks_.count(batch.mark) != 0 ? batch.mark : 0;
  batch.keys.resize(set->second.key.size());
  for (std::size_t i = 0; i < batch.keys.size(); ++i)
    for (std::uint64_t& number : batch.keys[i]) {
      const KeyKind kind = set->second.key[i].kind;
      if (kind == KeyKind::kThread)
        number = thread_ids_.find(static_cast<std::uint32_t>(number)).value_or(0);
      if (kind == KeyKind::kImage) number = known_image(static_cast<std::uint32_t>(number));
    }
  visitor_.counters(batch);
}

}  // namespace ringside::recording
