#include "cli/demangle_option.h"

#include <CLI/CLI.hpp>

namespace ringside::cli {

void add_demangle_option(CLI::App& app, std::string& value) {
  app.add_option("--demangle", value, "How much of a name to show")
      ->check(CLI::IsMember({"full", "short", "none"}))
      ->capture_default_str();
}

symbols::DemangleStyle style_of(const std::string& value) {
  if (value == "short") return symbols::DemangleStyle::kShort;
  return value == "none" ? symbols::DemangleStyle::kNone : symbols::DemangleStyle::kFull;
}

}  // namespace ringside::cli
