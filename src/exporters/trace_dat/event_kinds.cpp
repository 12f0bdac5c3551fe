#include "exporters/trace_dat/event_kinds.h"

#include <fmt/core.h>

#include <iterator>

#include "base/text.h"
#include "exporters/parts/binary.h"
#include "exporters/parts/event_fields.h"
#include "exporters/trace_dat/ring_buffer.h"
#include "exporters/trace_dat/safe_text.h"
#include "profile/sanitize.h"

namespace ringside::exporters::trace_dat {
namespace {

using recording::FieldType;
using recording::WeightUnit;

// The kernel's own events have lower ones; a number has 16 bits.
constexpr std::size_t kFirstNumber = 4096;
constexpr std::size_t kMostKinds = 0x10000 - kFirstNumber;
// So many fields leave room for texts in a page.
constexpr std::size_t kMostColumns = 256;

// All kinds have these behind the common fields.
constexpr std::size_t kProcessOffset = kCommonSize;
constexpr std::size_t kNameOffset = 12;
constexpr std::size_t kModeOffset = 16;
constexpr std::size_t kColumnsOffset = 24;

// Columns of events in front of their fields.
enum SeldomColumn : std::size_t { kDuration, kKey, kSnapshot, kSeldomColumns };

bool is_text(FieldType type) { return type != FieldType::kInteger && type != FieldType::kAddress; }

// A unit is shown where neither the field's name nor common sense has it already.
std::string unit_behind(std::string_view name, WeightUnit unit) {
  const std::string_view text = recording::name_of(unit);
  return unit == WeightUnit::kCount || name == text ? "" : fmt::format(" {}", text);
}

const char* declaration_of(FieldType type, bool is_unsigned) {
  switch (type) {
    case FieldType::kInteger:
      return is_unsigned ? "u64" : "s64";
    case FieldType::kAddress:
      return "u64";
    case FieldType::kBytes:
      return "__data_loc u8[]";
    default:
      return "__data_loc char[]";
  }
}

std::string field_line(std::string_view declaration, std::string_view name, std::size_t offset,
                       std::size_t size, bool is_signed) {
  return fmt::format("\tfield:{} {};\toffset:{};\tsize:{};\tsigned:{};\n", declaration, name,
                     offset, size, is_signed ? 1 : 0);
}

}  // namespace

void EventKinds::take(const profile::TimedSample& sample, Item& item) {
  item.time = sample.time;
  item.kind = kind_of(sample.source);
  item.group = sample.group;
  item.numbers.assign(sample.values.begin(), sample.values.end());
  item.numbers.resize(kinds_[item.kind].columns.size());
  item.bytes.clear();
}

void EventKinds::take(const profile::TimedSample& sample, const profile::TimedEvent& event,
                      Item& item) {
  const recording::EventBatch& batch = event.batch;
  item.time = sample.time;
  item.kind = kind_of(event);
  item.group = sample.group;
  item.bytes.clear();
  item.numbers = {static_cast<std::int64_t>(batch.duration(event.row)),
                  batch.keys.empty() ? 0 : static_cast<std::int64_t>(batch.keys[event.row]),
                  static_cast<std::int64_t>(batch.snapshot)};
  std::vector<Column>& columns = kinds_[item.kind].columns;
  for (std::size_t i = 0; i < kSeldomColumns; ++i) columns[i].is_written |= item.numbers[i] != 0;
  for (std::size_t i = kSeldomColumns; i < columns.size(); ++i) {
    const recording::EventColumn& column = batch.fields[i - kSeldomColumns];
    if (columns[i].type == FieldType::kBytes) item.bytes.push_back(column.bytes_at(event.row));
    item.numbers.push_back(columns[i].type == FieldType::kBytes ? 0 : column.number(event.row));
  }
}

std::uint32_t EventKinds::kind_of(std::uint32_t source) {
  const auto [entry, added] = samples_.try_emplace(source, next_kind());
  if (!added) return entry->second;
  const profile::ChosenSource& chosen = profile_.sources()[source];
  const bool is_first = chosen.source.id == recording::kCpuSource;
  Kind& kind = kinds_.emplace_back();
  kind.name =
      is_first ? kSampleName : identifier(fmt::format("sample_{}", chosen.source.name), names_);
  std::set<std::string> taken = {"process", "comm", "mode"};
  for (const std::size_t value : chosen.values) {
    const recording::ValueType& type = chosen.source.values[value];
    if (kind.columns.size() == kMostColumns) break;
    kind.columns.push_back(
        {identifier(type.name, taken), FieldType::kInteger, unit_behind(type.name, type.unit)});
  }
  return entry->second;
}

std::uint32_t EventKinds::kind_of(const profile::TimedEvent& event) {
  const auto [entry, added] = events_.try_emplace(event.type.id, next_kind());
  if (!added) return entry->second;
  bool is_time = false;
  for (const profile::ChosenSource& chosen : profile_.sources())
    is_time |=
        chosen.source.id == event.type.source && chosen.source.clock == recording::kHostClock;
  Kind& kind = kinds_.emplace_back();
  kind.name = identifier(event.type.name, names_);
  std::set<std::string> taken = {"process", "comm", "mode"};
  for (const char* const name : {"duration", "key", "snapshot"})
    kind.columns.push_back({identifier(name, taken), FieldType::kInteger, "", true, false});
  if (is_time) kind.columns[kDuration].unit = " ns";
  for (const recording::EventField& field : event.type.fields) {
    if (kind.columns.size() == kMostColumns) break;
    kind.columns.push_back(
        {identifier(field.name, taken), field.type, unit_behind(field.name, field.unit)});
  }
  return entry->second;
}

Result<void> EventKinds::finish() {
  if (kinds_.size() > kMostKinds)
    return fail(ErrorCode::kUnsupported, "trace.dat has numbers for {} kinds of events, not for {}",
                kMostKinds, kinds_.size());
  for (Kind& kind : kinds_) {
    kind.size = kColumnsOffset;
    for (Column& column : kind.columns) {
      if (!column.is_written) continue;
      column.offset = kind.size;
      kind.size += sizeof(std::uint64_t);
      kind.texts += is_text(column.type) ? 1 : 0;
    }
  }
  return {};
}

std::string EventKinds::format_of(std::size_t index) const {
  const Kind& kind = kinds_[index];
  std::string fields = field_line("int", "process", kProcessOffset, 4, true) +
                       field_line("__data_loc char[]", "comm", kNameOffset, 4, false) +
                       field_line("unsigned char", "mode", kModeOffset, 1, false);
  std::string text = "process=%d comm=%s mode=%s";
  std::string values =
      fmt::format("REC->process, __get_str(comm), __print_symbolic(REC->mode, {})", mode_list());
  for (const Column& column : kind.columns) {
    if (!column.is_written) continue;
    const std::size_t size = is_text(column.type) ? sizeof(std::uint32_t) : sizeof(std::uint64_t);
    fields +=
        field_line(declaration_of(column.type, column.is_unsigned), column.name, column.offset,
                   size, column.type == FieldType::kInteger && !column.is_unsigned);
    text += fmt::format(" {}=", column.name);
    if (column.type == FieldType::kInteger) {
      text += (column.is_unsigned ? "%llu" : "%lld") + column.unit;
      values += fmt::format(", REC->{}", column.name);
    } else if (column.type == FieldType::kAddress) {
      text += "0x%llx";
      values += fmt::format(", REC->{}", column.name);
    } else if (column.type == FieldType::kBytes) {
      text += "%s";
      values += fmt::format(
          ", __print_hex_str(__get_dynamic_array({0}), __get_dynamic_array_len({0}))", column.name);
    } else {
      text += "%s";
      values += fmt::format(", __get_str({})", column.name);
    }
  }
  return fmt::format("name: {}\nID: {}\nformat:\n{}{}\nprint fmt: \"{}\", {}\n", kind.name,
                     kFirstNumber + index, common_fields(), fields, text, values);
}

std::string_view EventKinds::bytes_of(const Item& item, const Task& task) {
  const Kind& kind = kinds_[item.kind];
  const std::size_t most = (kMostEvent - kind.size) / kind.texts;  // of each text
  begin_event(bytes_, static_cast<std::uint16_t>(kFirstNumber + item.kind), task);
  add(bytes_, task.process);
  bytes_.resize(kModeOffset);
  add(bytes_, static_cast<std::uint8_t>(task.mode));
  bytes_.resize(kind.size);
  add_text(std::string(fitting(task.name, most - 1)) + '\0', kNameOffset, most);
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kind.columns.size(); ++i) {
    const Column& column = kind.columns[i];
    if (!column.is_written) continue;
    const std::int64_t number = item.numbers[i];
    if (column.type == FieldType::kBytes) {
      add_text(item.bytes[bytes++], column.offset, most);
    } else if (column.type == FieldType::kText) {
      const std::string_view text = profile_.text(static_cast<std::uint32_t>(number));
      const std::string shown = text.empty() ? "" : profile::sanitize(text);
      add_text(std::string(fitting(shown, most - 1)) + '\0', column.offset, most);
    } else if (column.type == FieldType::kSymbol) {
      const std::string_view name = symbol_name(profile_, number);
      add_text(std::string(fitting(name, most - 1)) + '\0', column.offset, most);
    } else {
      bytes_.replace(column.offset, sizeof number, reinterpret_cast<const char*>(&number),
                     sizeof number);
    }
  }
  return bytes_;
}

// Its place in the event, and its bytes behind all fields. The place has the size above the offset.
void EventKinds::add_text(std::string_view text, std::size_t offset, std::size_t most) {
  text = text.substr(0, most);
  const auto place = static_cast<std::uint32_t>(text.size() << 16 | bytes_.size());
  bytes_.replace(offset, sizeof place, reinterpret_cast<const char*>(&place), sizeof place);
  bytes_ += text;
}

}  // namespace ringside::exporters::trace_dat
