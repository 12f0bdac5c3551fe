#include "app/settings/import_settings.h"

#include "app/settings/context_names.h"
#include "app/settings/cpu_frequency.h"

namespace ringside::app {

Result<importers::ImportOptions> import_options(const ImportSettings& settings) {
  importers::ImportOptions options;
  if (!settings.cpu_frequency.empty()) {
    RINGSIDE_ASSIGN(options.counter_hz, parse_cpu_frequency(settings.cpu_frequency));
  }
  if (!settings.context_names.empty()) {
    RINGSIDE_ASSIGN(options.context_names, read_context_names(settings.context_names));
  }
  return options;
}

Result<void> check_settings(const ImportSettings& settings, const importers::Format& format) {
  const auto check = [&](bool is_given, std::string_view option) -> Result<void> {
    if (!is_given || format.takes_option(option)) return {};
    return fail(ErrorCode::kUsage, "{} does not go with the input format {}", option, format.name);
  };
  RINGSIDE_TRY(check(!settings.cpu_frequency.empty(), "--cpu-freq"));
  RINGSIDE_TRY(check(!settings.context_names.empty(), "--context-names"));
  return check(settings.maestro_cut, "--maestro-cut");
}

}  // namespace ringside::app
