#include "formats/pprof.h"
#include "importers/parts/gzip_reader.h"
#include "importers/pprof/field_reader.h"
#include "importers/pprof/messages.h"
#include "importers/pprof/pprof.h"
#include "importers/pprof/unzipped.h"

namespace ringside::importers {
namespace {

using namespace pprof;

constexpr std::size_t kBeginning = 64 << 10;

// A type's name and unit, and nothing else.
bool is_value_type(std::string_view message) {
  FieldReader reader(message);
  Field field;
  std::size_t count = 0;
  while (reader.next(field)) {
    if (!field.is_number || field.tag > field::kUnit) return false;
    ++count;
  }
  return count != 0 && !reader.is_broken();
}

// Whether its type is the one that profile.proto has for its number.
bool is_field(const Field& field) {
  switch (field.tag) {
    case field::kSampleType:
    case field::kPeriodType:
      return field.is_bytes && is_value_type(field.bytes);
    case field::kSample:
    case field::kMapping:
    case field::kLocation:
    case field::kFunction:
    case field::kStringTable:
      return field.is_bytes;
    case field::kComment:
      return field.is_bytes || field.is_number;
    default:
      return field.tag <= field::kDocUrl && field.is_number;
  }
}

// Writers begin with a type and plain numbers, in some order.
Likeness likeness_of(std::string_view bytes, bool is_whole) {
  constexpr std::size_t kFewest = 3;
  FieldReader reader(bytes);
  Field field;
  std::size_t fields = 0;
  bool begins_with_type = false;
  bool has_type = false;
  bool has_message = false;
  for (; reader.next(field); ++fields) {
    if (!is_field(field)) return Likeness::kNone;
    const bool is_type = field.tag == field::kSampleType || field.tag == field::kPeriodType;
    begins_with_type |= !has_message && is_type;
    has_message |= field.is_bytes;
    has_type |= field.tag == field::kSampleType;
  }
  // The last field of a beginning is cut.
  if (fields < kFewest || !has_type || (reader.is_broken() && is_whole)) return Likeness::kNone;
  if (begins_with_type) return Likeness::kCertain;
  return is_whole ? Likeness::kFits : Likeness::kNone;
}

}  // namespace

Likeness pprof_likeness(const Input& input, const ImportOptions&) {
  if (!is_gzip(input.bytes)) {
    const std::string_view text = input.text();
    return likeness_of(text.substr(0, kBeginning), text.size() <= kBeginning);
  }
  const Unzipped beginning = unzipped(input.bytes, kBeginning);
  const Bytes bytes = beginning.bytes;
  return likeness_of({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                     beginning.fault.empty());
}

}  // namespace ringside::importers
