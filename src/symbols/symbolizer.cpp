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
  std::optional<Symbol> symbol;
  for (auto table = tables_.begin(); table != tables_.end() && !symbol; ++table)
    symbol = table->find(address);
  const bool is_named_by_dwarf = !frames.empty() && !frames.back().function.empty();
  if (fallback_ && !is_named_by_dwarf && (!symbol || !symbol->has_own_size))
    if (const auto other = fallback_->find(address);
        other && (!symbol || symbol->start < other->start))
      symbol = other;
  for (auto table = tables_.begin();
       accepts_beyond_sizes_ && frames.empty() && table != tables_.end() && !symbol; ++table)
    symbol = table->find_below(address);
  if (!symbol) return frames;
  if (frames.empty()) frames.emplace_back();
  frames.back().function = symbol->raw;
  frames.back().start = symbol->start;
  frames.back().size = symbol->size;
  return frames;
}

bool Symbolizer::empty() const {
  return dwarf_ == nullptr && !fallback_ &&
         std::all_of(tables_.begin(), tables_.end(),
                     [](const SymbolTable& table) { return table.empty(); });
}

}  // namespace ringside::symbols
