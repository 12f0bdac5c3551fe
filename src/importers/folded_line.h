#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/stack.h"

// The lines of folded stacks, as folded_text.h describes them.
namespace ringside::importers {

struct FoldedLine {
  std::string_view stack;  // "outermost;…;leaf", never empty
  std::int64_t count = 0;  // rounded
};
// None where the line has no count behind a blank.
[[nodiscard]] std::optional<FoldedLine> parse_folded_line(std::string_view line);

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
