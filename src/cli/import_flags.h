#pragma once

#include <string>

#include "app/settings/import_settings.h"

namespace ringside::cli {

class App;

// The option --input-format. Its help describes each format, or names the command whose does.
enum class FormatHelp { kDescribes, kRefers };
void add_input_format_flag(App& app, std::string& format, FormatHelp help);
// The options that only files of some other profilers have a use for.
void add_import_flags(App& app, app::ImportSettings& settings);

}  // namespace ringside::cli
