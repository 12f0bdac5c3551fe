#include "views/code_numbers.h"

#include <algorithm>

namespace ringside::views {

CodeNumbers::CodeNumbers(const profile::Profile& profile, const SortKeys& keys)
    : profile_(profile),
      has_functions_(keys.has(SortKey::kSymbol)),
      has_images_(has_functions_ || keys.has(SortKey::kDso)),
      has_lines_(keys.has(SortKey::kSourceLine)) {
  if (!has_lines_) return;
  for (const profile::Frame& frame : profile.frames) {
    const Code code(has_functions_ ? std::optional(frame.function) : std::nullopt,
                    has_images_ ? profile.functions[frame.function].image : profile::StringId{0},
                    frame.line);
    const auto next = static_cast<std::uint32_t>(codes_.size());
    of_frame_.push_back(codes_.try_emplace(code, next).first->second);
  }
}

std::optional<std::uint32_t> CodeNumbers::of(const OverheadRow& row) const {
  if (!has_lines_) return has_functions_ ? row.function.value_or(0) : row.image;
  const auto found = codes_.find({row.function, row.image, row.line});
  return found == codes_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t CodeNumbers::end() const {
  return has_lines_ ? codes_.size() : std::max(profile_.functions.size(), profile_.strings.size());
}

}  // namespace ringside::views
