#include "exporters/firefox/json_text.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace ringside::exporters {

std::string json_string(std::string_view text) {
  using nlohmann::json;
  return json(printable_line(text)).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace ringside::exporters
