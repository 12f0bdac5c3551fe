#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include "exporters/parts/binary.h"
#include "formats/perf_data.h"

// Records of perf.data as bytes.
namespace ringside::exporters::perf {

using namespace formats::perf_data;

// perf_event_header::misc of the exporter's records.
inline constexpr auto kKernelMode = static_cast<std::uint16_t>(CpuMode::kKernel);
inline constexpr auto kUserMode = static_cast<std::uint16_t>(CpuMode::kUser);

// Builds one record at a time.
class RecordBuilder {
 public:
  void begin(RecordType type, std::uint16_t misc) {
    bytes_.clear();
    add(static_cast<std::uint32_t>(type));
    add(misc);
    add(std::uint16_t{0});
  }
  template <std::integral Number>
  void add(Number number) {
    exporters::add(bytes_, number);
  }
  void add_bytes(std::string_view bytes) { bytes_ += bytes; }
  // With a NUL, and as many more as the next number needs to be aligned to 8 bytes.
  void add_text(std::string_view text) {
    bytes_ += text;
    bytes_.append(8 - bytes_.size() % 8, '\0');
  }
  // The whole record, valid until the next begin().
  [[nodiscard]] std::string_view end() {
    const auto size = static_cast<std::uint16_t>(bytes_.size());
    bytes_.replace(6, sizeof size, reinterpret_cast<const char*>(&size), sizeof size);
    return bytes_;
  }

 private:
  std::string bytes_;
};

}  // namespace ringside::exporters::perf
