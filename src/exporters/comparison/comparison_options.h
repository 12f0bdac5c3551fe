#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "views/comparison/comparison.h"
#include "views/comparison/limit.h"

namespace ringside::exporters {

// How a comparison is written, in any format.
struct ComparisonOptions {
  bool with_callees = false;     // the table is of total shares, else of self
  double chance = 0.001;         // a change is sure where its corrected p is below
  double minimum_percent = 0;    // functions whose shares are both below are left out
  std::size_t maximum_rows = 0;  // 0: all
  std::size_t width = 0;         // of a terminal, in cells; 0: nothing is cut
};

// A comparison, and what went beyond limits in it.
struct JudgedComparison {
  views::Comparison comparison;
  std::vector<views::LimitBreach> breaches;
};

// The functions to be shown, the greatest change first.
struct ChosenFunctions {
  ChosenFunctions(const views::Comparison& comparison, const ComparisonOptions& options);
  std::vector<const views::ComparedFunction*> shown;
  std::size_t left_out = 0;
};

// "10.05%", "+4.05%", "0.61%", "0.0123" or "<0.0001".
[[nodiscard]] std::string share_text(double share);
[[nodiscard]] std::string change_text(const views::ComparedShare& share);
[[nodiscard]] std::string margin_text(const views::ComparedShare& share);
[[nodiscard]] std::string chance_text(double p);

// Which test was made, and of how many functions, in one sentence.
[[nodiscard]] std::string test_in_words(const views::Comparison& comparison,
                                        const ComparisonOptions& options);
// "Before: a.data, 2,000 samples, kernel vmlinux".
[[nodiscard]] std::string side_in_words(const char* which, const views::ComparedSide& side);
// "2,000 samples".
[[nodiscard]] std::string samples_in_words(const views::ComparedSide& side);
// "a.data", or "a.data and 9 more".
[[nodiscard]] std::string inputs_in_words(const views::ComparedSide& side);
// " of 3,400 ticks, 30% idle, over 12.5 s", behind the samples; what is not known is left out.
[[nodiscard]] std::string time_in_words(const views::ComparedSide& side);
// "1 function", "2,000 functions".
[[nodiscard]] std::string count_of(std::uint64_t count, std::string_view what);

}  // namespace ringside::exporters
