#include "app/settings/symbol_settings.h"

namespace ringside::app {

symbols::DemangleStyle SymbolSettings::style() const {
  if (demangle == "short") return symbols::DemangleStyle::kShort;
  if (demangle == "verbose") return symbols::DemangleStyle::kVerbose;
  if (demangle == "asterinas") return symbols::DemangleStyle::kAsterinas;
  return demangle == "none" ? symbols::DemangleStyle::kNone : symbols::DemangleStyle::kFull;
}

symbols::Inlines SymbolSettings::inlines() const {
  return no_inline ? symbols::Inlines::kHide : symbols::Inlines::kShow;
}

symbols::DebugFileOptions SymbolSettings::files() const {
  symbols::DebugFileOptions options;
  options.debuginfod = debuginfod;
  return options;
}

}  // namespace ringside::app
