#pragma once

#include <string>

#include "symbols/demangle.h"

namespace CLI {
class App;
}

namespace ringside::cli {

// --demangle full|short|none, into `value`, whose content is the default.
void add_demangle_option(CLI::App& app, std::string& value);
[[nodiscard]] symbols::DemangleStyle style_of(const std::string& value);

}  // namespace ringside::cli
