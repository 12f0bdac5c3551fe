#include "cli/symbol_flags.h"

#include "cli/options.h"

namespace ringside::cli {

void add_symbol_flags(App& app, app::SymbolSettings& settings) {
  App& names = app.section(kNamesSection);
  names
      .add_option("--demangle", settings.demangle,
                  "How much of a C++ or Rust name to show: short without arguments and generics, "
                  "verbose with Rust's hashes, asterinas as Asterinas' profiler cleans it up, none "
                  "as in the file")
      ->type_name("STYLE")
      ->one_of({"full", "short", "verbose", "asterinas", "none"})
      ->capture_default_str();
  names.add_flag_function(
      "--inline",
      [&settings](std::int64_t) {
        settings.no_inline = false;
        settings.inline_is_given = true;
      },
      "Inlined functions as frames of their own (the default), and as rows of their own in report");
  names.add_flag("--no-inline", settings.no_inline,
                 "Only the functions that calls at run time lead to");
  names.add_flag("--debuginfod", settings.debuginfod,
                 "Ask the servers of $DEBUGINFOD_URLS for debug information that is not here");
}

}  // namespace ringside::cli
