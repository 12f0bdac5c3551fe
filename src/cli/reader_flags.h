#pragma once

#include <string>

#include "app/open_profile.h"

namespace ringside::cli {

class App;

// The options of every verb that reads a recording. `source_names` are those of the option that
// chooses sources of samples.
void add_reader_flags(App& app, app::ReaderSettings& settings,
                      const std::string& source_names = "--source");
// Those of a verb that follows allocations, which has a source and values of its own.
void add_allocation_flags(App& app, app::ReaderSettings& settings);
// Those of a verb that reads several of unlike builds: without the input, and without what makes
// names of places in one build.
void add_comparing_flags(App& app, app::ReaderSettings& settings);
// Those about whose time it was; add_reader_flags() has them too.
void add_owner_flags(App& app, app::ReaderSettings& settings);

}  // namespace ringside::cli
