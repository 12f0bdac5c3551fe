#pragma once

#include <map>
#include <string>
#include <vector>

#include "recording/records.h"

// Lines of JSON Lines that describe what samples name, without their ends.
namespace ringside::exporters {

[[nodiscard]] std::string header_line(const recording::Header& header);
// `clocks` by number.
[[nodiscard]] std::string source_line(const recording::Source& source,
                                      const std::map<std::uint32_t, recording::Clock>& clocks);
[[nodiscard]] std::string event_type_line(const recording::EventType& type,
                                          const recording::Source& source);
[[nodiscard]] std::string image_line(const recording::ImageInfo& image);

}  // namespace ringside::exporters
