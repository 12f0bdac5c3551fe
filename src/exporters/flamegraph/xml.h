#pragma once

#include <string>
#include <string_view>

namespace ringside::exporters {

// Text as it stands in XML, between tags and in attributes. Control characters, which XML forbids,
// become spaces. `text` is UTF-8.
[[nodiscard]] std::string xml_escape(std::string_view text);

}  // namespace ringside::exporters
