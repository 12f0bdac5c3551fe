#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>

namespace ringside::disk_image {

// A size for people: "512 bytes", "1.5 MiB".
[[nodiscard]] inline std::string byte_text(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  double value = static_cast<double>(bytes) / 1024;
  const char* unit = "KiB";
  for (const char* next : {"MiB", "GiB", "TiB"}) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return fmt::format("{:.1f} {}", value, unit);
}

}  // namespace ringside::disk_image
