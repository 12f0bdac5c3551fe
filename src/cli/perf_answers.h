#pragma once

#include <string_view>

namespace ringside::cli {

// Words that answer a command of perf's, of samply's or of gdb's that ringside has not; empty: it
// is none of those.
[[nodiscard]] std::string_view answer_to_command(std::string_view command);

// The same of an option of perf's, which is typed behind a command of ringside's: `path` is
// "ringside record".
[[nodiscard]] std::string_view answer_to_option(std::string_view path, std::string_view option);

}  // namespace ringside::cli
