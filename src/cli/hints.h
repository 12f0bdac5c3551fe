#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringside::cli {

class App;

// The words to type instead of a command that there is none of: the nearest one, or, of ringside
// itself (`may_be_perfs`), what answers perf's. Begins behind "there is no command 'X'".
[[nodiscard]] std::string hint_for_command(std::string_view word,
                                           const std::vector<std::string>& commands,
                                           bool may_be_perfs = true);

// The same of a word that `command` does not take; empty: nothing is near.
[[nodiscard]] std::string hint_for_option(std::string_view word, const App& command);

// The one that is mistyped as `word`: by as many letters that are missing, wrong, too many or
// exchanged with their neighbours as half of its length, up to 3; else the one that begins so.
// Empty: none, or several equally near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& words);

}  // namespace ringside::cli
