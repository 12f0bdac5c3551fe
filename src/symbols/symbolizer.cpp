#include "symbols/symbolizer.h"

#include <algorithm>

namespace ringside::symbols {

std::vector<SourceFrame> Symbolizer::lookup(ImageAddr address) {
  std::vector<SourceFrame> frames;
  if (dwarf_) frames = dwarf_->lookup(address);
  if (inlines_ == Inlines::kHide && frames.size() > 1) {
    frames.front().function = std::move(frames.back().function);
    frames.front().inlined = false;
    frames.resize(1);
  }
  for (const SymbolTable& table : tables_) {
    const auto symbol = table.find(address);
    if (!symbol) continue;
    if (frames.empty()) frames.emplace_back();
    frames.back().function = symbol->raw;
    break;
  }
  const bool has_name = !frames.empty() && !frames.back().function.empty();
  const auto symbol = fallback_ && !has_name ? fallback_->find(address) : std::nullopt;
  if (!symbol) return frames;
  if (frames.empty()) frames.emplace_back();
  frames.back().function = symbol->raw;
  return frames;
}

bool Symbolizer::empty() const {
  return dwarf_ == nullptr && !fallback_ &&
         std::all_of(tables_.begin(), tables_.end(),
                     [](const SymbolTable& table) { return table.empty(); });
}

}  // namespace ringside::symbols
