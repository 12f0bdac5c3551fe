#include "cli/verbs/flamegraph_verb.h"

#include <map>
#include <set>
#include <string>

#include "app/messages.h"
#include "app/outputs.h"
#include "cli/options.h"
#include "cli/output_flags.h"
#include "cli/reader_flags.h"

namespace ringside::cli {

namespace {

void add_coloring_flags(App& picture, exporters::FlamegraphOptions& options) {
  using exporters::FrameColoring;
  using exporters::Theme;
  static const std::map<std::string, FrameColoring> kColorings = {
      {"auto", FrameColoring::kAuto},
      {"kind", FrameColoring::kKind},
      {"memory", FrameColoring::kMemory},
      {"module", FrameColoring::kModule}};
  static const std::map<std::string, Theme> kThemes = {
      {"auto", Theme::kAuto}, {"light", Theme::kLight}, {"dark", Theme::kDark}};
  picture
      .add_option_function(
          "--colors", [&options](const std::string& name) { options.colors = kColorings.at(name); },
          "What colours show: kind, kernel code and user code and so on; memory, the same with "
          "the kernel in green; module, the image; auto, memory where bytes are added up, else "
          "kind")
      ->type_name("NAME")
      ->one_of({"auto", "kind", "memory", "module"})
      ->default_str("auto");
  picture
      .add_option_function(
          "--theme", [&options](const std::string& name) { options.theme = kThemes.at(name); },
          "The page: light, dark, or auto, as the viewer prefers")
      ->type_name("NAME")
      ->one_of({"auto", "light", "dark"})
      ->default_str("auto");
}

}  // namespace

void FlamegraphVerb::add_options(App& app) {
  App& picture = app.section("The picture");
  picture_ = &picture;
  picture.add_option("-o,--output", output_, "The picture; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  picture.add_option("--title", options_.title, "Above the picture")->type_name("TEXT");
  picture.add_option("--subtitle", options_.subtitle, "Below the title")->type_name("TEXT");
  picture
      .add_option("--width", options_.width,
                  "Pixels where scripts are off; a browser fills its window")
      ->type_name("PIXELS")
      ->range(200u, 20000u)
      ->capture_default_str();
  picture
      .add_option("--min-width", options_.minimum_width,
                  "Leave out frames narrower than so many pixels")
      ->type_name("PIXELS")
      ->range(0.0, 100.0)
      ->capture_default_str();
  picture.add_flag("--icicle", options_.icicle, "Roots at the top");
  picture.add_flag("--reverse", options_.reverse, "Leaves first: who calls what is hot");
  picture.add_flag("--per-cpu", options_.per_vcpu, "One tower for each vCPU");
  add_root_frame_flag(picture, options_.by);
  add_coloring_flags(picture, options_);
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
