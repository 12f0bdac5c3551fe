#pragma once

#include <string_view>

// The style sheets and scripts as they stand in this folder, embedded by CMake.
namespace ringside::exporters {

extern const std::string_view kFlamegraphCss;
extern const std::string_view kFlamegraphThemeCss;
extern const std::string_view kFlamegraphJs;  // all scripts, in their order
// SHA-256, hexadecimal, of a line end and kFlamegraphJs.
extern const std::string_view kFlamegraphScriptSha256;

}  // namespace ringside::exporters
