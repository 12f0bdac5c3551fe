#include "importers/folded_survey.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/split.h"
#include "importers/folded_line.h"

namespace ringside::importers {
namespace {

// The least power of ten times which so many millionths are a whole number.
std::int64_t scale_of(std::int64_t fraction) {
  std::int64_t scale = kFoldedUnit;
  while (scale > 1 && fraction % 10 == 0) {
    fraction /= 10;
    scale /= 10;
  }
  return scale;
}

class Survey {
 public:
  void take(std::string_view line) {
    ++number_;
    if (line.empty() || is_folded_comment(line)) return;
    const auto parsed = parse_folded_line(line);
    if (!parsed) {
      if (found_.others++ == 0) found_.first_other = number_;
      return;
    }
    ++found_.stacks;
    has_one_count_ = has_one_count_ || !has_two_counts(*parsed);
    sum_ += std::abs(static_cast<double>(parsed->count));
    if (parsed->fraction != 0) {
      found_.scale = std::max(found_.scale, scale_of(parsed->fraction));
      sum_ += 1;
    }
  }

  // Large counts leave less room for fractions.
  Result<FoldedSurvey> finish(const std::string& name) {
    if (found_.stacks == 0)
      return fail(ErrorCode::kFormat,
                  "{}: no line is a folded stack, such as 'main;read;copy 12'{}", name,
                  found_.others == 0 ? "" : fmt::format("; line {} is none", found_.first_other));
    if (found_.others > found_.stacks)
      return fail(ErrorCode::kFormat,
                  "{}: {} of {} lines are no folded stacks, such as 'main;read;copy 12', and the "
                  "first of them is line {}: give the text that a stackcollapse script makes",
                  name, found_.others, found_.others + found_.stacks, found_.first_other);
    if (!has_one_count_)
      return fail(ErrorCode::kFormat,
                  "{}: each line has two counts, as a difference of two profiles has: give the "
                  "folded stacks of one of them",
                  name);
    constexpr double kMost = 9e18;  // of a sum
    while (found_.scale > 1 && sum_ * static_cast<double>(found_.scale) > kMost) found_.scale /= 10;
    return found_;
  }

 private:
  FoldedSurvey found_;
  std::uint64_t number_ = 0;  // of the line
  bool has_one_count_ = false;
  double sum_ = 0;  // of all counts without their signs, or a little more
};

}  // namespace

std::string FoldedSurvey::scale_sentence() const {
  if (scale == 1) return {};
  return fmt::format("counts have fractions: each is multiplied by {}", scale);
}

Result<FoldedSurvey> survey_folded(const Input& input) {
  Survey survey;
  LinesReleased released(input);
  for (std::string_view rest = input.text(); !rest.empty(); released.read_all_but(rest.size()))
    survey.take(take_line(rest));
  return survey.finish(input.name);
}

void LinesReleased::read_all_but(std::size_t left) {
  constexpr std::size_t kReleaseEvery = 16 << 20;
  if (!input_.release || released_ - left < kReleaseEvery) return;
  released_ = left;
  input_.release();
}

}  // namespace ringside::importers
