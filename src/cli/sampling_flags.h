#pragma once

#include "app/settings/sampling_settings.h"

namespace ringside::cli {

class App;

// The things that -n counts.
enum class Counted { kStacks, kRounds };

// The options that every verb with a running guest has.
void add_sampling_flags(App& app, app::SamplingSettings& settings, Counted counted);

}  // namespace ringside::cli
