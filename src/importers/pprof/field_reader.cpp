#include "importers/pprof/field_reader.h"

#include <protozero/pbf_reader.hpp>

namespace ringside::importers::pprof {

bool FieldReader::next(Field& field) {
  if (is_broken_) return false;
  const std::string_view rest = bytes_.substr(offset_);
  try {
    protozero::pbf_reader reader(rest.data(), rest.size());
    if (!reader.next()) return false;
    field = {};
    field.tag = reader.tag();
    switch (reader.wire_type()) {
      case protozero::pbf_wire_type::varint:
        field.is_number = true;
        field.number = reader.get_uint64();
        break;
      case protozero::pbf_wire_type::length_delimited: {
        field.is_bytes = true;
        const protozero::data_view view = reader.get_view();
        field.bytes = {view.data(), view.size()};
        break;
      }
      default:
        reader.skip();
    }
    offset_ = bytes_.size() - reader.length();
    return true;
  } catch (const protozero::exception&) {
    is_broken_ = true;
    return false;
  }
}

bool append_numbers(const Field& field, std::size_t most, std::vector<std::uint64_t>& out) {
  if (field.is_number) {
    if (out.size() >= most) return false;
    out.push_back(field.number);
    return true;
  }
  const char* at = field.bytes.data();
  const char* const end = at + field.bytes.size();
  try {
    while (at != end) {
      if (out.size() >= most) return false;
      out.push_back(protozero::decode_varint(&at, end));
    }
  } catch (const protozero::exception&) {
    return false;
  }
  return true;
}

}  // namespace ringside::importers::pprof
