#pragma once

#include <cstdint>
#include <protozero/pbf_writer.hpp>
#include <string_view>

#include "recording/codec/fields.h"

// Adds a field to a message, for encode*.cpp. Zero and empty are the defaults of every field, so
// they are not stored; except in the first field of a message, because protozero drops a message
// without any.
namespace ringside::recording {

inline void put(protozero::pbf_writer& out, fields::Tag tag, std::uint64_t value) {
  if (value != 0) out.add_uint64(tag, value);
}

inline void put_address(protozero::pbf_writer& out, fields::Tag tag, std::uint64_t value) {
  if (value != 0) out.add_fixed64(tag, value);
}

inline void put(protozero::pbf_writer& out, fields::Tag tag, std::string_view text) {
  if (!text.empty()) out.add_bytes(tag, text.data(), text.size());
}

template <class Enum>
void put_enum(protozero::pbf_writer& out, fields::Tag tag, Enum value) {
  put(out, tag, static_cast<std::uint64_t>(value));
}

}  // namespace ringside::recording
