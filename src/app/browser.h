#pragma once

#include <string>

namespace ringside::app {

// Whether there is a screen that a browser can open its window on.
[[nodiscard]] bool has_screen();
// Starts the desktop's browser with xdg-open, in a session of its own: Ctrl-C is not for it. False:
// there is no xdg-open.
bool open_in_browser(const std::string& url);

}  // namespace ringside::app
