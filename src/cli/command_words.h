#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ringside::cli {

class App;

// The command that stands behind a verb's options, with or without "--" before it, as in
// `record -F 99 qemu-system-x86_64 -s`. Takes it out of `words`, which begin with the verb's name.
// Nothing where no command is there; empty where nothing stands behind "--". Without "--" only
// where `takes_command`: then the first word that is neither an option of `verb` nor the value of
// one begins it.
[[nodiscard]] std::optional<std::vector<std::string>> take_command(std::vector<std::string>& words,
                                                                   const App& verb,
                                                                   bool takes_command);

}  // namespace ringside::cli
