#pragma once

#include <string_view>

// flamegraph.css, flamegraph_theme.css, flamegraph_label.js and flamegraph.js as they stand in this
// folder, embedded by CMake.
namespace ringside::exporters {

extern const std::string_view kFlamegraphCss;
extern const std::string_view kFlamegraphThemeCss;
extern const std::string_view kFlamegraphLabelJs;
extern const std::string_view kFlamegraphJs;

}  // namespace ringside::exporters
