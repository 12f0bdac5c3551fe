#include "importers/json_lines/events.h"

#include <algorithm>

#include "base/byte_reader.h"
#include "formats/json_lines.h"

namespace ringside::importers::json_lines {
namespace {

using recording::FieldType;

constexpr std::size_t kMostTypes = 1000;  // readers take 1024
constexpr std::size_t kMostSnapshots = 1 << 16;
constexpr std::size_t kMostWaiting = 4096;  // rows
constexpr std::size_t kLongestName = 4096;  // bytes

}  // namespace

Result<void> Events::add_type(const Item& line) {
  const recording::Source* const source = sources_.find(line, "source");
  const Item* const fields = line.find("field_types");
  if (source == nullptr || fields == nullptr || types_.size() == kMostTypes ||
      fields->items.size() > recording::kMostColumns)
    return fail(ErrorCode::kFormat, "a type of events has a source and {} fields at most",
                recording::kMostColumns);
  recording::EventType type;
  type.name = line.text_of("event_type").substr(0, kLongestName);
  type.source = source->id;
  for (const Item& item : fields->items) {
    const auto field =
        enumerator<FieldType>(formats::json_lines::kFieldTypes, item.text_of("type"));
    const auto unit = enumerator_up_to(recording::kLastWeightUnit, item.text_of("unit"));
    if (!field || !unit) return fail(ErrorCode::kFormat, "a field has a type and a unit");
    type.fields.push_back(
        {std::string(item.text_of("name").substr(0, kLongestName)), *field, *unit});
  }
  const auto number = line.number("id");
  RINGSIDE_TRY(check_name(type, number));
  RINGSIDE_ASSIGN(type.id, writer_.add_event_type(type));
  by_name_.try_emplace(type.name, type.id);
  if (number) {
    ids_.emplace(*number, type.id);
    numbered_.insert(type.name);
  }
  types_.push_back(std::move(type));
  return {};
}

// All of one name have numbers, or are of one kind, as in files that are joined.
Result<void> Events::check_name(const recording::EventType& type,
                                std::optional<std::uint64_t> number) const {
  if (number && ids_.contains(*number))
    return fail(ErrorCode::kFormat, "another type of events has its id");
  const auto known = by_name_.find(type.name);
  if (known == by_name_.end() || (number && numbered_.contains(type.name))) return {};
  const recording::EventType& first = types_[known->second - 1];
  if (first.source == type.source && first.fields == type.fields)
    return fail(ErrorCode::kFormat, "another type of events is the same");
  return fail(ErrorCode::kUnsupported,
              "two types of events are called {}, and no id tells them apart: export the recording "
              "again",
              type.name);
}

Result<void> Events::add_snapshot(const Item& line) {
  const auto number = line.number("snapshot");
  if (!number || snapshots_.size() == kMostSnapshots)
    return fail(ErrorCode::kFormat, "a snapshot has a number");
  RINGSIDE_TRY(flush());
  recording::Snapshot snapshot;
  snapshot.time = line.number("time").value_or(0);
  snapshot.clock = sources_.clock(line.number("clock").value_or(recording::kHostClock));
  snapshot.reason = line.text_of("reason").substr(0, kLongestName);
  RINGSIDE_ASSIGN(snapshots_[*number], writer_.add_snapshot(snapshot));
  return {};
}

const recording::EventType* Events::type_of(const Item& line) const {
  if (const auto number = line.number("type_id")) {
    const auto known = ids_.find(*number);
    return known == ids_.end() ? nullptr : &types_[known->second - 1];
  }
  const auto known = by_name_.find(line.text_of("event"));
  return known == by_name_.end() ? nullptr : &types_[known->second - 1];
}

const recording::Source* Events::source_of(const Item& line) const {
  const recording::EventType* const type = type_of(line);
  return type == nullptr ? nullptr : &sources_.all()[type->source - 1];
}

Result<void> Events::flush() {
  if (batch_.times.empty()) return {};
  RINGSIDE_TRY(writer_.add_events(batch_));
  batch_ = {};
  return {};
}

// A batch has a column of durations and of keys, or has none.
Result<void> Events::begin_row(std::uint32_t type, const Item& line) {
  const auto snapshot = snapshots_.find(line.number("snapshot").value_or(0));
  const std::uint32_t id = snapshot == snapshots_.end() ? 0 : snapshot->second;
  const bool is_same = batch_.type == type && batch_.snapshot == id &&
                       batch_.durations.empty() == (line.find("duration") == nullptr) &&
                       batch_.keys.empty() == (line.find("key") == nullptr);
  if (is_same && batch_.size() < kMostWaiting) return {};
  RINGSIDE_TRY(flush());
  batch_.type = type;
  batch_.snapshot = id;
  batch_.fields.resize(types_[type - 1].fields.size());
  return {};
}

Result<std::int64_t> Events::number_of(FieldType type, const Item& field) {
  if (type == FieldType::kInteger && is_whole_number(field))
    return static_cast<std::int64_t>(field.bits);
  if (type == FieldType::kAddress)
    if (const auto address = address_in(field.text)) return static_cast<std::int64_t>(*address);
  if (type == FieldType::kText && field.type == JsonValue::Type::kString)
    return writer_.add_text(field.text);
  if (type == FieldType::kSymbol) return stacks_.symbol(field);
  return fail(ErrorCode::kFormat, "the field {} is of another type", field.name);
}

Result<void> Events::add(const Item& line, const recording::SampleInfo& info,
                         const std::vector<recording::StackRef>& stacks) {
  const recording::EventType& type = *type_of(line);
  const Item* const fields = line.find("fields");
  if (fields == nullptr || fields->items.size() != type.fields.size())
    return fail(ErrorCode::kFormat, "its fields are not those of its type");
  std::vector<std::int64_t> numbers(type.fields.size());
  std::vector<std::vector<std::byte>> bytes(type.fields.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type.fields[i].type == FieldType::kBytes) {
      RINGSIDE_ASSIGN(bytes[i], bytes_in(fields->items[i].text));
    } else {
      RINGSIDE_ASSIGN(numbers[i], number_of(type.fields[i].type, fields->items[i]));
    }
  }
  RINGSIDE_TRY(begin_row(type.id, line));
  batch_.times.push_back(info.time_ns);
  batch_.contexts.push_back(writer_.add_context(info, stacks));
  if (const Item* const duration = line.find("duration"))
    batch_.durations.push_back(duration->bits);
  if (const Item* const key = line.find("key")) batch_.keys.push_back(key->bits);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (type.fields[i].type == FieldType::kBytes)
      batch_.fields[i].bytes.emplace_back(as_text(bytes[i]));
    else
      batch_.fields[i].numbers.push_back(numbers[i]);
  }
  return {};
}

}  // namespace ringside::importers::json_lines
