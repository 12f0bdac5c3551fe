#pragma once

#include <string>

namespace CLI {
class App;
}

namespace ringside::cli {

// A completion script made from the options that `app` has, for "bash", "zsh" or "fish".
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace ringside::cli
