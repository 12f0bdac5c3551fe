#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/stack.h"

// The lines of folded stacks, as folded_text.h describes them.
namespace ringside::importers {

inline constexpr std::int64_t kFoldedUnit = 1'000'000;  // parts of one that are kept

struct FoldedLine {
  std::string_view stack;  // "outermost;…;leaf", never empty
  std::int64_t count = 0;  // without its fraction
  // Millionths, rounded: below kFoldedUnit, and negative where the count is.
  std::int64_t fraction = 0;
};
// None where the line has no count behind a blank.
[[nodiscard]] std::optional<FoldedLine> parse_folded_line(std::string_view line);

// The count times `scale`, a power of ten up to kFoldedUnit. It is rounded. None where it does not
// fit.
[[nodiscard]] std::optional<std::int64_t> scaled_count(const FoldedLine& line, std::int64_t scale);

// A remark of the script that wrote the text. Names of objects, such as Ruby's "#<Class:0x1>", are
// none.
[[nodiscard]] bool is_folded_comment(std::string_view line);

// Whether a line has a second count, as a difference of two profiles has. A frame may end in a
// number, too.
[[nodiscard]] bool has_two_counts(const FoldedLine& line);

struct FoldedFrame {
  std::string_view name;  // without a suffix; may be empty
  FrameKind kind = FrameKind::kCode;
  bool inlined = false;
};
[[nodiscard]] FoldedFrame parse_folded_frame(std::string_view text);

}  // namespace ringside::importers
