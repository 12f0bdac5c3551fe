#pragma once

#include <string>

#include "symbols/debug_files.h"
#include "symbols/demangle.h"

namespace ringside::cli {

class App;

// The options of every verb that names functions.
struct SymbolFlags {
  std::string demangle = "full";
  bool no_inline = false;
  bool inline_is_given = false;
  bool debuginfod = false;

  void add_to(App& app);
  [[nodiscard]] symbols::DemangleStyle style() const;
  [[nodiscard]] symbols::Inlines inlines() const;
  [[nodiscard]] symbols::DebugFileOptions files() const;
};

}  // namespace ringside::cli
