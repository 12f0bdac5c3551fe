#include "cli/verbs/flamegraph_verb.h"

#include <set>
#include <string>

#include "app/messages.h"
#include "app/outputs.h"
#include "cli/options.h"
#include "cli/output_flags.h"
#include "cli/picture_flags.h"
#include "cli/reader_flags.h"

namespace ringside::cli {

void FlamegraphVerb::add_options(App& app) {
  App& picture = app.section("The picture");
  picture_ = &picture;
  picture.add_option("-o,--output", output_, "The picture; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  add_picture_flags(picture, options_);
  picture.add_flag("--per-cpu", options_.per_vcpu, "One tower for each vCPU");
  add_root_frame_flag(picture, options_.by);
  add_coloring_flags(picture, options_, "auto");
  picture.add_flag("--show-idle", options_.show_idle, "Idle vCPUs as a frame of their own");
  add_reader_flags(app, settings_);
}

// No option is ignored.
Result<void> FlamegraphVerb::check_folded_options() const {
  const std::set<std::string> taken = {"--output", "--by", "--per-cpu", "--show-idle"};
  for (const Option* const option : picture_->own_options())
    if (option->is_given() && !taken.contains(option->names().back()))
      return fail(ErrorCode::kUsage,
                  "{} is for pictures, and {} gets folded stacks: give it a name "
                  "such as out.svg",
                  option->names().back(), output_);
  return {};
}

Result<void> FlamegraphVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const exporters::Format* const format,
                  app::format_of(output_, "svg", "", {"svg", "folded"}));
  const bool is_folded = format == exporters::format_named("folded");
  if (is_folded) RINGSIDE_TRY(check_folded_options());
  RINGSIDE_TRY(app::check_no_input(output_, settings_.inputs));
  RINGSIDE_ASSIGN(const auto profile, app::open_profile(settings_));
  if (is_folded) {
    exporters::ExportOptions folded;
    folded.by = options_.by;
    folded.per_vcpu = options_.per_vcpu;
    folded.show_idle = options_.show_idle;
    return app::write_profile(profile, output_, *format, folded);
  }
  RINGSIDE_TRY(app::write_to(output_, [&](exporters::Sink& sink) {
    return exporters::write_flamegraph(profile, options_, sink);
  }));
  if (output_ != "-") app::say("ringside: wrote " + output_ + "; open it in a browser");
  return {};
}

}  // namespace ringside::cli
