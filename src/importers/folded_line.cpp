#include "importers/folded_line.h"

#include <array>

#include "base/whole_number.h"

namespace ringside::importers {
namespace {

struct Count {
  std::int64_t whole = 0;
  std::int64_t fraction = 0;  // as in FoldedLine
};

// The millionths that the digits behind a point are, rounded: up to kFoldedUnit.
std::optional<std::int64_t> parse_fraction(std::string_view digits) {
  std::int64_t millionths = 0;
  std::int64_t unit = kFoldedUnit;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    if (unit == 1 && c >= '5') ++millionths;
    unit /= 10;
    millionths += unit * (c - '0');
  }
  return millionths;
}

// A whole number, or one with a fraction, that `text` is from its beginning to its end.
std::optional<Count> parse_count(std::string_view text) {
  if (const auto whole = whole_number<std::int64_t>(text)) return Count{*whole, 0};
  const bool is_negative = text.starts_with('-');
  text.remove_prefix(is_negative ? 1 : 0);
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos || text.size() == 1 || text.front() == '-')
    return std::nullopt;
  const auto whole = point == 0 ? std::optional<std::int64_t>(0)
                                : whole_number<std::int64_t>(text.substr(0, point));
  const auto fraction = parse_fraction(text.substr(point + 1));
  constexpr std::int64_t kLimit = 1'000'000'000'000'000'000;
  if (!whole || !fraction || *whole >= kLimit) return std::nullopt;
  const std::int64_t sign = is_negative ? -1 : 1;
  return Count{sign * (*whole + *fraction / kFoldedUnit), sign * (*fraction % kFoldedUnit)};
}

}  // namespace

std::optional<FoldedLine> parse_folded_line(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || line.find_first_not_of(" \t") >= blank)
    return std::nullopt;
  const auto count = parse_count(line.substr(blank + 1));
  if (!count) return std::nullopt;
  return FoldedLine{line.substr(0, blank), count->whole, count->fraction};
}

std::optional<std::int64_t> scaled_count(const FoldedLine& line, std::int64_t scale) {
  std::int64_t count = 0;
  if (__builtin_mul_overflow(line.count, scale, &count)) return std::nullopt;
  if (line.fraction == 0) return count;
  const std::int64_t part = kFoldedUnit / scale;  // millionths that become one
  const std::int64_t half = line.fraction < 0 ? -(part / 2) : part / 2;
  if (__builtin_add_overflow(count, (line.fraction + half) / part, &count)) return std::nullopt;
  return count;
}

bool is_folded_comment(std::string_view line) {
  return line.starts_with('#') && !line.starts_with("#<");
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
