#include "exporters/parts/json_warnings.h"

#include "exporters/parts/json_text.h"

namespace ringside::exporters {

std::string json_warnings(const profile::Profile& profile) {
  std::string warnings;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) warnings += (warnings.empty() ? "" : ",") + json_string(text);
  };
  add(profile.damage);
  for (const std::string& text : profile.warnings) add(text);
  for (const std::string& text : profile.left_out) add(text);
  return warnings;
}

}  // namespace ringside::exporters
