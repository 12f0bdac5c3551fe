#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// How wide text is on a terminal, and how it is made to fit. All take printable text of UTF-8
// (base/text.h); widths are in cells: most characters take one, Chinese ones two, combining marks
// none.
namespace ringside {

[[nodiscard]] std::size_t cells_of(std::string_view text);

// `text` in at most `cells` (at least 1); what is left out of its middle, or of its end, is "…".
[[nodiscard]] std::string cut_middle(std::string_view text, std::size_t cells);
[[nodiscard]] std::string cut_end(std::string_view text, std::size_t cells);

// Lines of at most `cells`, broken at spaces; a word that is longer than a line is broken within.
// At least one line.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, std::size_t cells);

}  // namespace ringside
