#include "importers/callgrind/events.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "importers/callgrind/line_scan.h"
#include "recording/samples.h"

namespace ringside::importers::callgrind {
namespace {

using recording::ValueType;
using recording::WeightUnit;

constexpr std::size_t kMostLongNames = 256;
constexpr std::size_t kLongestName = 256;  // bytes

// Where the next line that begins with "event" stands, from `at` on; npos: there is none.
std::size_t find_events(std::string_view text, std::size_t at) {
  constexpr std::string_view kWanted = "\nevent";
  if (at == 0 && text.starts_with(kWanted.substr(1))) return 0;
  if (at >= text.size()) return std::string_view::npos;
  const void* const found =
      ::memmem(text.data() + at, text.size() - at, kWanted.data(), kWanted.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + 1;
}

bool ends_with_word(std::string_view name, std::string_view word) {
  if (!name.ends_with(word)) return false;
  return name.size() == word.size() || name[name.size() - word.size() - 1] == '_';
}

ValueType own_value(std::string_view name) {
  if (ends_with_word(name, "time")) return {std::string(name), WeightUnit::kNanoseconds, 1};
  if (ends_with_word(name, "bytes")) return {std::string(name), WeightUnit::kBytes, 1};
  if (ends_with_word(name, "ticks")) return {std::string(name), WeightUnit::kTicks, 1};
  if (ends_with_word(name, "instructions"))
    return {std::string(name), WeightUnit::kInstructions, 1};
  return {std::string(name), WeightUnit::kCount, 1};
}

// "sysTime (elapsed ns)": the unit of valgrind's --collect-systime.
ValueType value_of(std::string_view name, std::string_view long_name) {
  if (name == "Ir") return {std::string(name), WeightUnit::kInstructions, 1};
  struct Unit {
    std::string_view end;
    std::uint64_t scale;
  };
  static constexpr std::array<Unit, 3> kUnits = {{{" ns)", 1}, {" us)", 1000}, {" ms)", 1000000}}};
  for (const Unit& unit : kUnits)
    if (long_name.ends_with(unit.end))
      return {std::string(name), WeightUnit::kNanoseconds, unit.scale};
  return {std::string(name), WeightUnit::kCount, 1};
}

}  // namespace

void Events::add(std::string_view text) {
  std::string_view line;
  for (std::size_t at = find_events(text, 0); at != std::string_view::npos;
       at = find_events(text, at + 1)) {
    LineScan lines(text.substr(at));
    if (!lines.next(line)) return;
    Setting setting = setting_of(line);
    if (setting.mark != ':') continue;
    std::string_view name = take_word(setting.value).substr(0, kLongestName);
    if (setting.name == "event" && long_names_.size() < kMostLongNames)
      long_names_[name] = setting.value;
    if (setting.name != "events") continue;
    for (; !name.empty(); name = take_word(setting.value).substr(0, kLongestName)) {
      if (find(name) < names_.size()) continue;
      are_too_many_ |= names_.size() == recording::kMostColumns;
      if (are_too_many_) break;
      names_.push_back(name);
    }
  }
}

std::size_t Events::find(std::string_view name) const {
  return static_cast<std::size_t>(std::find(names_.begin(), names_.end(), name) - names_.begin());
}

std::vector<ValueType> Events::values(bool is_own) const {
  std::vector<ValueType> values;
  for (const std::string_view name : names_) {
    const auto known = long_names_.find(name);
    const bool has_long_name = known != long_names_.end();
    values.push_back(is_own ? own_value(name)
                            : value_of(name, has_long_name ? known->second : std::string_view()));
  }
  return values;
}

}  // namespace ringside::importers::callgrind
