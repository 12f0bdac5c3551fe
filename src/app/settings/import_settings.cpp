#include "app/settings/import_settings.h"

#include <charconv>
#include <fstream>

#include "app/settings/cpu_frequency.h"

namespace ringside::app {
namespace {

Result<std::map<std::uint32_t, std::string>> read_context_names(const std::string& path) {
  std::ifstream file(path);
  if (!file) return fail_errno(path);
  std::map<std::uint32_t, std::string> names;
  std::string line;
  for (unsigned number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    std::uint32_t id = 0;
    const char* const end = line.data() + line.size();
    const auto parsed = std::from_chars(line.data(), end, id);
    if (parsed.ec != std::errc() || parsed.ptr == end || *parsed.ptr != ' ')
      return fail(ErrorCode::kFormat,
                  "{}: line {} is no id and name of a context, such as '12 init'", path, number);
    names[id] = std::string(parsed.ptr + 1, end);
  }
  return names;
}

}  // namespace

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
