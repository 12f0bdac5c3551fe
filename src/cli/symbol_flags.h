#pragma once

#include "app/settings/symbol_settings.h"

namespace ringside::cli {

class App;

// The options of every verb that names functions.
void add_symbol_flags(App& app, app::SymbolSettings& settings);

}  // namespace ringside::cli
