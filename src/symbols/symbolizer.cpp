#include "symbols/symbolizer.h"

namespace ringside::symbols {

std::vector<SourceFrame> Symbolizer::lookup(ImageAddr address) {
  std::vector<SourceFrame> frames;
  if (dwarf_) frames = dwarf_->lookup(address);
  if (inlines_ == Inlines::kHide && frames.size() > 1) {
    frames.front().function = std::move(frames.back().function);
    frames.front().inlined = false;
    frames.resize(1);
  }
  if (const auto symbol = table_.find(address)) {
    if (frames.empty()) frames.emplace_back();
    frames.back().function = symbol->raw;
  }
  return frames;
}

}  // namespace ringside::symbols
