#include "cli/export_verb.h"

#include <CLI/CLI.hpp>

#include "cli/outputs.h"

namespace ringside::cli {

void ExportVerb::add_options(CLI::App& app) {
  flags_.add_to(app);
  app.add_option("--format", format_,
                 "folded: one line a stack, outermost frame first, and its weight")
      ->check(CLI::IsMember({"folded"}))
      ->capture_default_str();
  app.add_option("-o,--output", output_, "The file; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_flag("--per-cpu", options_.per_vcpu, "A first frame for each vCPU");
  app.add_flag("--show-idle", options_.show_idle, "Idle vCPUs as a stack of their own");
}

Result<void> ExportVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const auto profile, open_profile(flags_));
  return write_to(output_, [&](exporters::Sink& sink) {
    return exporters::write_folded(profile, options_, sink);
  });
}

}  // namespace ringside::cli
