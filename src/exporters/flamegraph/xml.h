#pragma once

#include <string>
#include <string_view>

namespace ringside::exporters {

// Text as it stands in XML, between tags and in attributes. Control characters, which XML forbids,
// become spaces. `text` is UTF-8.
[[nodiscard]] std::string xml_escape(std::string_view text);
// The same of several lines between tags: line ends stay.
[[nodiscard]] std::string xml_escape_lines(std::string_view text);

}  // namespace ringside::exporters
