#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "importers/format.h"

namespace ringside::importers {

// A look at folded stacks from their beginning to their end, before they are read.
struct FoldedSurvey {
  std::uint64_t stacks = 0;
  std::uint64_t others = 0;       // lines that are neither stacks nor comments nor empty
  std::uint64_t first_other = 0;  // its line
  // Counts times this have no fraction: a power of ten up to 1,000,000, as far as their sum fits.
  std::int64_t scale = 1;

  // That counts are not those of the file; empty where they are.
  [[nodiscard]] std::string scale_sentence() const;
};

// Errors kFormat: no line is a stack, most lines are none, or each has two counts.
[[nodiscard]] Result<FoldedSurvey> survey_folded(const Input& input);

// Gives back the memory of the lines that were read, now and then.
class LinesReleased {
 public:
  explicit LinesReleased(const Input& input) : input_(input), released_(input.bytes.size()) {}
  // `left`: bytes that are still to be read.
  void read_all_but(std::size_t left);

 private:
  const Input& input_;
  std::size_t released_;  // bytes that were not read then
};

}  // namespace ringside::importers
