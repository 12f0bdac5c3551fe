#include "unwind/code_unit.h"

#include <algorithm>

namespace ringside::unwind {
namespace {

constexpr std::string_view kCold = ".cold";

}  // namespace

CodeUnits::CodeUnits(const elf::ElfFile& file) {
  const auto& symbols = file.symbols();
  functions_.reserve(symbols.size());
  for (const elf::FunctionSymbol& symbol : symbols) {
    // A label without type and size inside a function is a place in it.
    const bool label = !symbol.is_function && symbol.size == 0;
    if (label && !functions_.empty() && functions_.back().range.contains(symbol.address)) continue;
    if (functions_.empty() || functions_.back().range.start != symbol.address)
      functions_.push_back({{symbol.address, symbol.size}, symbol.name});
    else if (symbol.size > functions_.back().range.size)
      functions_.back() = {{symbol.address, symbol.size}, symbol.name};
  }
  constexpr std::uint64_t kMaxUnsized = 64 * 1024;
  for (std::size_t i = 0; i < functions_.size(); ++i) {
    Function& function = functions_[i];
    function.is_unsized = function.range.size == 0;
    if (function.is_unsized)
      function.range.size =
          i + 1 < functions_.size()
              ? std::min(functions_[i + 1].range.start - function.range.start, kMaxUnsized)
              : kMaxUnsized;
    if (const std::size_t at = function.name.find(kCold); at != std::string_view::npos && at != 0)
      cold_parts_.emplace(function.name.substr(0, at), i);
  }
  for (std::size_t i = 0; i < functions_.size(); ++i)
    if (cold_parts_.contains(functions_[i].name)) parents_.emplace(functions_[i].name, i);
}

const CodeUnits::Function* CodeUnits::function_at(ImageAddr at) const {
  auto after = std::upper_bound(
      functions_.begin(), functions_.end(), at,
      [](ImageAddr address, const Function& f) { return address < f.range.start; });
  for (int i = 0; i < 8 && after != functions_.begin(); ++i) {
    --after;
    if (after->range.contains(at)) return &*after;
  }
  return nullptr;
}

std::optional<CodeUnit> CodeUnits::find(ImageAddr at) const {
  const Function* function = function_at(at);
  if (function == nullptr) return std::nullopt;
  std::string_view name = function->name;
  const std::size_t cold = name.find(kCold);
  CodeUnit unit{.ranges = {}, .is_assumed = function->is_unsized};
  if (cold != std::string_view::npos && cold != 0) {
    // Static functions of the same name may each have a cold part; the nearest parent is the
    // likeliest, and the linker keeps the order of both.
    name = name.substr(0, cold);
    std::vector<const Function*> parents;
    for (auto [i, end] = parents_.equal_range(name); i != end; ++i)
      parents.push_back(&functions_[i->second]);
    std::vector<const Function*> parts;
    for (auto [i, end] = cold_parts_.equal_range(name); i != end; ++i)
      parts.push_back(&functions_[i->second]);
    std::sort(parents.begin(), parents.end());
    std::sort(parts.begin(), parts.end());
    const auto index =
        static_cast<std::size_t>(std::find(parts.begin(), parts.end(), function) - parts.begin());
    if (!parents.empty())
      unit.ranges.push_back(parents[std::min(index, parents.size() - 1)]->range);
    unit.ranges.push_back(function->range);
    return unit;
  }
  unit.ranges.push_back(function->range);
  for (auto [i, end] = cold_parts_.equal_range(name); i != end; ++i)
    unit.ranges.push_back(functions_[i->second].range);
  return unit;
}

}  // namespace ringside::unwind
