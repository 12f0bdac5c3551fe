#pragma once

#include <string_view>

// flamegraph.css, flamegraph_theme.css, flamegraph_label.js and flamegraph.js as they stand in this
// folder, embedded by CMake.
namespace ringside::exporters {

extern const std::string_view kFlamegraphCss;
extern const std::string_view kFlamegraphThemeCss;
extern const std::string_view kFlamegraphLabelJs;
extern const std::string_view kFlamegraphJs;
// SHA-256, hexadecimal, of a line end, kFlamegraphLabelJs and kFlamegraphJs.
extern const std::string_view kFlamegraphScriptSha256;

}  // namespace ringside::exporters
