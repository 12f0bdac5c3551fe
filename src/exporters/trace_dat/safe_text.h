#pragma once

#include <set>
#include <string>
#include <string_view>

// Names that a guest chose, as trace.dat's readers take them: they split lines, words and C code.
namespace ringside::exporters::trace_dat {

// As the name of an event or a field in a format's text: letters, digits and '_', which stands for
// every other character. It is not empty and begins with no digit. One that is in `taken` gets a
// number behind it; the result joins them.
[[nodiscard]] std::string identifier(std::string_view name, std::set<std::string>& taken);

// As a function's name in kallsyms, where it ends at a space, and one that begins with '$' is left
// out: '_' stands for those.
[[nodiscard]] std::string symbol_word(std::string_view name);

// As a thread's name in saved_cmdlines, where spaces in front are not part of it: '_' stands for
// those.
[[nodiscard]] std::string command_line_name(std::string_view name);

// At most `most` bytes of a text, which end with a whole character.
[[nodiscard]] std::string_view fitting(std::string_view text, std::size_t most);

}  // namespace ringside::exporters::trace_dat
