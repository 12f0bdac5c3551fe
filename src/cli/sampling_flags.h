#pragma once

#include "app/settings/sampling_settings.h"

namespace ringside::cli {

class App;

// The options that every verb with a running guest has.
void add_sampling_flags(App& app, app::SamplingSettings& settings);

}  // namespace ringside::cli
