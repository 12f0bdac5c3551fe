#include "importers/pprof/messages.h"

namespace ringside::importers::pprof {
namespace {

// Together with 256 MiB of bytes that was not mapped they stay well below 1 GB.
constexpr std::size_t kMostTexts = 4 << 20;
constexpr std::size_t kMostFunctions = 2 << 20;
constexpr std::size_t kMostLocations = 2 << 20;
constexpr std::size_t kMostMappings = 64 << 10;
constexpr std::size_t kMostTypes = 4096;
constexpr std::size_t kMostComments = 1024;
constexpr std::size_t kMostLines = 1000;

// Calls `take` for each field that is a number; false where the message is broken.
template <class Take>
bool read_numbers(std::string_view message, Take&& take) {
  FieldReader reader(message);
  Field field;
  while (reader.next(field))
    if (field.is_number) take(field.tag, field.number);
  return !reader.is_broken();
}

// The table's entry of that id. Null where the table is full; a later message of an id replaces an
// earlier one.
template <class Table>
auto* entry_of(Table& table, std::uint64_t id, std::size_t most) {
  const bool is_full = table.size() >= most && table.find(id) == nullptr;
  return is_full ? nullptr : &table[table.find_or_add(id)];
}

}  // namespace

void Messages::read(std::string_view bytes, Faults& faults) {
  bytes_ = bytes;
  FieldReader reader(bytes);
  Field field;
  for (std::size_t at = 0; reader.next(field); at = reader.offset()) {
    if (field.is_number) read_number(field);
    if (field.tag == field::kSample) ++samples;
    if (!field.is_bytes || read_message(field)) continue;
    // Made once: there may be millions.
    faults.add(at, faults.count() != 0
                       ? std::string()
                       : fmt::format("the field {} there is broken, or too much", field.tag));
  }
  if (reader.is_broken())
    faults.add(reader.offset(), "no field of protobuf begins there, or it ends too early");
}

void Messages::read_number(const Field& field) {
  switch (field.tag) {
    case field::kTimeNanos:
      time_ns = field.number;
      break;
    case field::kDurationNanos:
      duration_ns = field.number;
      break;
    case field::kPeriod:
      period = field.number;
      break;
    case field::kDefaultSampleType:
      default_type = field.number;
      break;
    case field::kComment:
      if (comments.size() < kMostComments) comments.push_back(field.number);
      break;
    default:
      break;
  }
}

bool Messages::read_message(const Field& field) {
  switch (field.tag) {
    case field::kSampleType:
      return types.size() < kMostTypes && read_value_type(field.bytes, types.emplace_back());
    case field::kMapping:
      return add_mapping(field.bytes);
    case field::kLocation:
      return add_location(field.bytes);
    case field::kFunction:
      return add_function(field.bytes);
    case field::kStringTable:
      return add_text(field.bytes);
    case field::kPeriodType:
      return read_value_type(field.bytes, period_type);
    case field::kComment: {
      std::vector<std::uint64_t> more;
      const bool is_whole = append_numbers(field, kMostComments - comments.size(), more);
      comments.insert(comments.end(), more.begin(), more.end());
      return is_whole;
    }
    default:
      return true;
  }
}

bool Messages::add_text(std::string_view text) {
  if (texts_.size() >= kMostTexts) return false;
  texts_.push_back(text);
  return true;
}

bool Messages::add_mapping(std::string_view message) {
  MappingMessage mapping;
  const bool is_whole = read_numbers(message, [&](std::uint32_t tag, std::uint64_t number) {
    if (tag == field::kMappingId) mapping.key = number;
    if (tag == field::kMemoryStart) mapping.start = number;
    if (tag == field::kMemoryLimit) mapping.limit = number;
    if (tag == field::kFileOffset) mapping.offset = number;
    if (tag == field::kFilename) mapping.file = number;
    if (tag == field::kBuildId) mapping.build_id = number;
  });
  if (!is_whole || mapping.key == 0 || mappings_.size() >= kMostMappings) return false;
  mappings_.push_back(mapping);
  return true;
}

bool Messages::add_function(std::string_view message) {
  FunctionMessage function;
  const bool is_whole = read_numbers(message, [&](std::uint32_t tag, std::uint64_t number) {
    if (tag == field::kFunctionId) function.key = number;
    if (tag == field::kName) function.name = number;
    if (tag == field::kSystemName) function.system_name = number;
    if (tag == field::kFile) function.file = number;
  });
  if (!is_whole || function.key == 0) return false;
  FunctionMessage* const entry = entry_of(functions_, function.key, kMostFunctions);
  if (entry == nullptr) return false;
  *entry = function;
  return true;
}

bool Messages::add_location(std::string_view message) {
  LocationMessage location;
  location.message = message;
  const bool is_whole = read_numbers(message, [&](std::uint32_t tag, std::uint64_t number) {
    if (tag == field::kLocationNumber) location.key = number;
    if (tag == field::kMappingOf) location.mapping = number;
    if (tag == field::kAddress) location.address = number;
  });
  if (!is_whole || location.key == 0) return false;
  LocationMessage* const entry = entry_of(locations_, location.key, kMostLocations);
  if (entry == nullptr) return false;
  *entry = location;
  return true;
}

bool read_value_type(std::string_view message, ValueTypeMessage& out) {
  return read_numbers(message, [&](std::uint32_t tag, std::uint64_t number) {
    if (tag == field::kType) out.name = number;
    if (tag == field::kUnit) out.unit = number;
  });
}

bool read_lines(std::string_view location, std::vector<LineMessage>& out) {
  out.clear();
  FieldReader reader(location);
  Field field;
  while (reader.next(field)) {
    if (field.tag != field::kLine || !field.is_bytes) continue;
    if (out.size() >= kMostLines) return false;
    LineMessage& line = out.emplace_back();
    const bool is_whole = read_numbers(field.bytes, [&](std::uint32_t tag, std::uint64_t number) {
      if (tag == field::kFunctionOf) line.function = number;
      if (tag == field::kLineNumber && number <= 0xffffffff)
        line.line = static_cast<std::uint32_t>(number);
    });
    if (!is_whole) return false;
  }
  return !reader.is_broken();
}

}  // namespace ringside::importers::pprof
