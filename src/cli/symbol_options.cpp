#include "cli/symbol_options.h"

#include "cli/options.h"

namespace ringside::cli {

void SymbolFlags::add_to(App& app) {
  App& names = app.section(kNamesSection);
  names
      .add_option("--demangle", demangle,
                  "How much of a C++ or Rust name to show: short without arguments and generics, "
                  "verbose with Rust's hashes, none as in the file")
      ->type_name("STYLE")
      ->one_of({"full", "short", "verbose", "none"})
      ->capture_default_str();
  names.add_flag_function(
      "--inline",
      [this](std::int64_t) {
        no_inline = false;
        inline_is_given = true;
      },
      "Inlined functions as frames of their own (the default), and as rows of their own in report");
  names.add_flag("--no-inline", no_inline, "Only the functions that calls at run time lead to");
  names.add_flag("--debuginfod", debuginfod,
                 "Ask the servers of $DEBUGINFOD_URLS for debug information that is not here");
}

symbols::DemangleStyle SymbolFlags::style() const {
  if (demangle == "short") return symbols::DemangleStyle::kShort;
  if (demangle == "verbose") return symbols::DemangleStyle::kVerbose;
  return demangle == "none" ? symbols::DemangleStyle::kNone : symbols::DemangleStyle::kFull;
}

symbols::Inlines SymbolFlags::inlines() const {
  return no_inline ? symbols::Inlines::kHide : symbols::Inlines::kShow;
}

symbols::DebugFileOptions SymbolFlags::files() const {
  symbols::DebugFileOptions options;
  options.debuginfod = debuginfod;
  return options;
}

}  // namespace ringside::cli
