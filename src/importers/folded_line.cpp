#include "importers/folded_line.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/whole_number.h"

namespace ringside::importers {
namespace {

// A whole number, or one with a fraction, that `text` is from its beginning to its end.
std::optional<std::int64_t> parse_count(std::string_view text) {
  if (const auto whole = whole_number<std::int64_t>(text)) return whole;
  const char* const end = text.data() + text.size();
  double value = 0;
  const auto real = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  constexpr double kLimit = 1e18;
  if (real.ec != std::errc() || real.ptr != end || !(std::abs(value) < kLimit)) return std::nullopt;
  return std::llround(value);
}

}  // namespace

std::optional<FoldedLine> parse_folded_line(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  const auto count = parse_count(line.substr(blank + 1));
  if (!count) return std::nullopt;
  return FoldedLine{line.substr(0, blank), *count};
}

bool has_two_counts(const FoldedLine& line) { return parse_folded_line(line.stack).has_value(); }

FoldedFrame parse_folded_frame(std::string_view text) {
  struct Suffix {
    std::string_view text;
    FrameKind kind;
    bool inlined;
  };
  static constexpr std::array<Suffix, 3> kSuffixes = {{{"_[k]", FrameKind::kKernel, false},
                                                       {"_[i]", FrameKind::kCode, true},
                                                       {"_[j]", FrameKind::kUser, false}}};
  for (const Suffix& suffix : kSuffixes)
    if (text.ends_with(suffix.text))
      return {text.substr(0, text.size() - suffix.text.size()), suffix.kind, suffix.inlined};
  return {text, FrameKind::kCode, false};
}

}  // namespace ringside::importers
