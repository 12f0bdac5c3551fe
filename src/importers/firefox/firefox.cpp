#include "importers/firefox/firefox.h"

#include <algorithm>

#include "importers/firefox/recorder.h"
#include "importers/parts/json_input.h"

namespace ringside::importers {

Likeness firefox_likeness(const Input& input, const ImportOptions&) {
  constexpr std::size_t kBeginning = 64 << 10;
  const std::string text = json_beginning(input, kBeginning);
  const auto has = [&](std::string_view part) { return text.find(part) != std::string::npos; };
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || text[first] != '{' || !has("\"meta\"")) return Likeness::kNone;
  const bool is_processed = has("\"preprocessedProfileVersion\"");
  const bool is_raw = has("\"stackwalk\"") && has("\"interval\"");
  return is_processed || is_raw ? Likeness::kCertain : Likeness::kNone;
}

Result<Imported> import_firefox(std::span<const Input> inputs, const ImportOptions&,
                                Target& target) {
  const Input& input = inputs.front();
  RINGSIDE_ASSIGN(firefox::Profile profile, firefox::read_profile(input));
  const bool has_all = profile.meta.version && profile.has_threads;
  if (!has_all && profile.damage) return failed_by(*profile.damage, input.name);
  if (!has_all)
    return fail(ErrorCode::kFormat, "{}: no profile of the Firefox Profiler: it has no {}",
                input.name,
                profile.meta.version ? "array \"threads\"" : "\"preprocessedProfileVersion\"");
  return firefox::Recorder(input.name, profile, target).run();
}

}  // namespace ringside::importers
