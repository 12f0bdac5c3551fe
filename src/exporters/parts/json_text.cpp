#include "exporters/parts/json_text.h"

#include <nlohmann/json.hpp>

#include "profile/sanitize.h"

namespace ringside::exporters {

std::string json_quoted(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_string(std::string_view text) {
  return text.empty() ? "\"\"" : json_quoted(profile::sanitize(text));
}

}  // namespace ringside::exporters
