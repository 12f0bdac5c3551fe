#pragma once

#include <cstddef>
#include <string>

namespace ringside::cli {

class App;
class Option;

// Cells of a line of --help: the terminal's, at most 100; 80 where it is not known.
[[nodiscard]] std::size_t help_width();

// "HZ", or "[ADDR]" where it may be left out; empty: a flag.
[[nodiscard]] std::string value_in_words(const Option& option);
// Remarks in parentheses behind a description, after a blank: choices, default and the like.
[[nodiscard]] std::string facts_in_words(const Option& option);
// "ringside report [OPTIONS] [FILE …]".
[[nodiscard]] std::string usage_in_words(const App& app);

// The text of --help: usage, sections with their options, examples. No line is wider than `width`.
[[nodiscard]] std::string help_text(const App& app, std::size_t width);

}  // namespace ringside::cli
