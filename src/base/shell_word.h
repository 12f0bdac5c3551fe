#pragma once

#include <string>
#include <string_view>

namespace ringside {

// `word` as a POSIX shell takes it for one argument: in single quotes unless it has plain
// characters only.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace ringside
