#pragma once

#include <string>

#include "base/result.h"
#include "importers/format.h"

namespace ringside::app {

// The command line about a file that another profiler has written.
struct ImportSettings {
  std::string cpu_frequency;  // of the time stamp counter, in GHz
  std::string context_names;  // a file of lines "id name"
  bool maestro_cut = false;

  // Any that is set.
  [[nodiscard]] bool is_given() const {
    return !cpu_frequency.empty() || !context_names.empty() || maestro_cut;
  }
};

// Those that need no kernel. Errors: kUsage for a frequency that is none, kFormat with the line for
// a file of names that is none.
[[nodiscard]] Result<importers::ImportOptions> import_options(const ImportSettings& settings);
// Error kUsage for a setting that `format` has no use for.
[[nodiscard]] Result<void> check_settings(const ImportSettings& settings,
                                          const importers::Format& format);

}  // namespace ringside::app
