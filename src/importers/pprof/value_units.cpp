#include "importers/pprof/value_units.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>

namespace ringside::importers::pprof {
namespace {

using recording::WeightUnit;

struct KnownUnit {
  WeightUnit unit;
  std::uint64_t scale;
  std::initializer_list<std::string_view> names;  // without an "s" of the plural
};

const KnownUnit kKnownUnits[] = {
    {WeightUnit::kNanoseconds, 1, {"ns", "nanosecond"}},
    {WeightUnit::kNanoseconds, 1'000, {"us", "μs", "microsecond"}},
    {WeightUnit::kNanoseconds, 1'000'000, {"ms", "millisecond"}},
    {WeightUnit::kNanoseconds, 1'000'000'000, {"s", "sec", "second"}},
    {WeightUnit::kNanoseconds, 60'000'000'000, {"min", "minute"}},
    {WeightUnit::kNanoseconds, 3'600'000'000'000, {"hr", "hour"}},
    {WeightUnit::kBytes, 1, {"b", "byte"}},
    {WeightUnit::kBytes, 1ULL << 10, {"kb", "kbyte", "kilobyte", "kib", "kibibyte"}},
    {WeightUnit::kBytes, 1ULL << 20, {"mb", "mbyte", "megabyte", "mib", "mebibyte"}},
    {WeightUnit::kBytes, 1ULL << 30, {"gb", "gbyte", "gigabyte", "gib", "gibibyte"}},
    {WeightUnit::kBytes, 1ULL << 40, {"tb", "tbyte", "terabyte"}},
    {WeightUnit::kBytes, 1ULL << 50, {"pb", "pbyte", "petabyte"}},
};

std::string plain(std::string_view unit) {
  std::string text(unit);
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (text.size() > 2 && text.back() == 's') text.pop_back();
  return text;
}

// The name tells apart what pprof has one unit for.
WeightUnit counted(std::string_view name) {
  if (name == "ticks" || name.ends_with("_ticks")) return WeightUnit::kTicks;
  if (name == "instructions" || name.ends_with("_instructions")) return WeightUnit::kInstructions;
  return name == "samples" || name == "sample" ? WeightUnit::kSamples : WeightUnit::kCount;
}

}  // namespace

recording::ValueType value_type_of(std::string_view name, std::string_view unit) {
  constexpr std::size_t kLongestUnit = 16;
  if (unit.size() <= kLongestUnit) {
    const std::string wanted = plain(unit);
    for (const KnownUnit& known : kKnownUnits)
      if (std::find(known.names.begin(), known.names.end(), wanted) != known.names.end())
        return {std::string(name), known.unit, known.scale};
  }
  return {std::string(name), counted(name), 1};
}

}  // namespace ringside::importers::pprof
