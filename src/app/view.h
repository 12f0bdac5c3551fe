#pragma once

#include <cstdint>
#include <string>

#include "app/open_profile.h"
#include "base/result.h"

namespace ringside::app {

// The page that shows a profile.
enum class ViewPage : std::uint8_t {
  kFirefox,     // profiler.firefox.com, which reads the profile from this machine
  kSvg,         // a flame graph
  kSpeedscope,  // speedscope's page, from this machine
};

struct ViewRequest {
  ReaderSettings settings;
  ViewPage page = ViewPage::kFirefox;
  std::uint16_t port = 0;       // 0: a free one
  bool opens_browser = true;    // where there is a screen
  std::string speedscope_page;  // a folder; empty: it is looked for
};

// Writes the profile to a private folder, serves it on loopback and prints the link, until Ctrl-C.
[[nodiscard]] Result<void> view(const ViewRequest& request);

}  // namespace ringside::app
