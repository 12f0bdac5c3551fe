#pragma once

#include "app/settings/guest_system.h"

namespace ringside::cli {

class App;

// The options that say what the guest's system and its processes are.
void add_guest_system_flags(App& app, app::GuestSystemSettings& settings);

}  // namespace ringside::cli
