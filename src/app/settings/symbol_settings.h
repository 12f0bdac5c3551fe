#pragma once

#include <string>

#include "symbols/debug_files.h"
#include "symbols/demangle.h"

namespace ringside::app {

// How functions are named.
struct SymbolSettings {
  std::string demangle = "full";  // short, verbose, asterinas or none
  bool no_inline = false;
  bool inline_is_given = false;
  bool debuginfod = false;
  bool beyond_sizes = false;  // also names of symbols that end before the address

  [[nodiscard]] symbols::DemangleStyle style() const;
  [[nodiscard]] symbols::Inlines inlines() const;
  [[nodiscard]] symbols::DebugFileOptions files() const;
};

}  // namespace ringside::app
