#pragma once

#include "app/open_profile.h"

namespace ringside::cli {

class App;

// The options of every verb that reads a recording.
void add_reader_flags(App& app, app::ReaderSettings& settings);
// Those about whose time it was; add_reader_flags() has them too.
void add_owner_flags(App& app, app::ReaderSettings& settings);

}  // namespace ringside::cli
