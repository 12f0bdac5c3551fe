#include <algorithm>
#include <array>

#include "importers/callgrind/callgrind.h"
#include "importers/callgrind/line_scan.h"

namespace ringside::importers {
namespace {

using namespace callgrind;

bool is_cost_line(std::string_view line) {
  return line.find_first_not_of("0123456789abcdefx+-*. \t") == std::string_view::npos;
}

bool is_setting(const Setting& setting) {
  static constexpr std::array<std::string_view, 12> kHeads = {
      "version", "creator", "pid",    "thread", "part",    "cmd",
      "desc",    "event",   "events", "totals", "summary", "positions"};
  static constexpr std::array<std::string_view, 17> kPlaces = {
      "ob",    "fl",   "fi",   "fe",  "fn",  "cob", "cfi",  "cfl", "cfn",
      "calls", "jump", "jcnd", "jfi", "jfn", "rec", "frfn", "ln"};
  const auto is_in = [&](const auto& list) {
    return std::find(list.begin(), list.end(), setting.name) != list.end();
  };
  return setting.mark == ':' ? is_in(kHeads) : setting.mark == '=' && is_in(kPlaces);
}

}  // namespace

// A line of events comes before the first function, and nothing but lines of the format.
Likeness callgrind_likeness(const Input& input, const ImportOptions&) {
  constexpr std::size_t kBeginning = 64 << 10;
  const std::string_view text = input.text().substr(0, kBeginning);
  if (text.starts_with("# callgrind format")) return Likeness::kCertain;
  LineScan lines(text);
  std::string_view line;
  bool has_events = false;
  while (lines.next(line)) {
    if (line.empty() || line.front() == '#') continue;
    const Setting setting = setting_of(line);
    if (has_events && setting.name == "fn") return Likeness::kCertain;
    has_events |= setting.name == "events" && setting.mark == ':';
    const bool is_whole = lines.offset() + line.size() < text.size();
    if (is_whole && !is_setting(setting) && !is_cost_line(line)) return Likeness::kNone;
  }
  return Likeness::kNone;
}

}  // namespace ringside::importers
