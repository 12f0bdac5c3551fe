#pragma once

#include <cstdint>
#include <protozero/pbf_reader.hpp>
#include <string>
#include <string_view>

#include "recording/records.h"

// The value of the field that a reader stands at, for decode*.cpp.
namespace ringside::recording {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Fields are only taken with the wire type they are documented with; another type is skipped like
// an unknown field, as protobuf does.
inline bool is_varint(const pbf_reader& message) {
  return message.wire_type() == pbf_wire_type::varint;
}
inline bool is_bytes(const pbf_reader& message) {
  return message.wire_type() == pbf_wire_type::length_delimited;
}
inline bool is_fixed64(const pbf_reader& message) {
  return message.wire_type() == pbf_wire_type::fixed64;
}

inline std::uint64_t get_number(pbf_reader& message) {
  if (is_varint(message)) return message.get_uint64();
  if (is_fixed64(message)) return message.get_fixed64();
  message.skip();
  return 0;
}

inline std::uint32_t get_small(pbf_reader& message) {
  return static_cast<std::uint32_t>(get_number(message));
}

inline std::string_view get_view(pbf_reader& message) {
  if (!is_bytes(message)) {
    message.skip();
    return {};
  }
  const protozero::data_view view = message.get_view();
  return {view.data(), view.size()};
}

inline std::string get_text(pbf_reader& message) { return std::string(get_view(message)); }

inline pbf_reader get_message(pbf_reader& message) {
  const std::string_view view = get_view(message);
  return pbf_reader(view.data(), view.size());
}

template <class Enum>
Enum get_enum(pbf_reader& message, Enum last, Enum otherwise) {
  const std::uint64_t value = get_number(message);
  return value <= static_cast<std::uint64_t>(last) ? static_cast<Enum>(value) : otherwise;
}

inline VcpuId get_vcpu(pbf_reader& message) {
  return VcpuId{static_cast<std::uint16_t>(get_number(message))};
}

[[nodiscard]] StackRef decode_stack(pbf_reader message);

}  // namespace ringside::recording
