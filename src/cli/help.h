#pragma once

#include <cstddef>
#include <string>

namespace ringside::cli {

class App;

// Cells of a line of --help: the terminal's, at most 100; 80 where it is not known.
[[nodiscard]] std::size_t help_width();

// The text of --help: usage, sections with their options, examples. No line is wider than `width`.
[[nodiscard]] std::string help_text(const App& app, std::size_t width);

}  // namespace ringside::cli
