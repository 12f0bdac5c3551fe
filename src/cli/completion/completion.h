#pragma once

#include <string>

namespace ringside::cli {

class App;

// A completion script made from the options that `app` has, for "bash", "zsh" or "fish".
[[nodiscard]] std::string completion_script(const App& app, const std::string& shell);

}  // namespace ringside::cli
