#pragma once

#include <string>
#include <string_view>

namespace ringside::exporters {

// A text that is safe to print already, as a JSON string with its quotes. Bytes that are not UTF-8
// become U+FFFD.
[[nodiscard]] std::string json_quoted(std::string_view text);
// The same of a text from outside, sanitized as in every output (profile/sanitize.h). An empty text
// stays empty.
[[nodiscard]] std::string json_string(std::string_view text);

}  // namespace ringside::exporters
