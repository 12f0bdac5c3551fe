#include "cli/output_flags.h"

#include <map>

#include "cli/options.h"

namespace ringside::cli {

void add_root_frame_flag(App& app, views::RootFrame& by) {
  using views::RootFrame;
  static const std::map<std::string, RootFrame> kFrames = {{"none", RootFrame::kNone},
                                                           {"comm", RootFrame::kComm},
                                                           {"pid", RootFrame::kPid},
                                                           {"tid", RootFrame::kTid},
                                                           {"module", RootFrame::kModule}};
  app.add_option_function(
         "--by", [&by](const std::string& name) { by = kFrames.at(name); },
         "The frame at the root of each stack: where processes are known comm, pid for comm-PID, "
         "tid for comm-PID/TID; module for the image whose code ran")
      ->type_name("NAME")
      ->one_of({"comm", "pid", "tid", "module", "none"})
      ->default_str("comm");
}

void add_stack_style_flags(App& app, exporters::ExportOptions& options) {
  add_root_frame_flag(app, options.by);
  app.add_option("--folded-style", options.folded_style,
                 "Folded stacks: plain, or as Emerald's profiler writes them, Kernel;… and User "
                 "PID=7 (name);…")
      ->type_name("STYLE")
      ->one_of({"plain", "emerald"})
      ->default_str("plain");
}

Result<void> check_stack_style(const App& section, const exporters::ExportOptions& options) {
  if (options.folded_style != "emerald") return {};
  for (const Option* const option : section.own_options())
    for (const char* const name : {"--by", "--per-cpu", "--show-idle", "--annotate-kernel"})
      if (option->is_given() && option->names().back() == name)
        return fail(ErrorCode::kUsage, "--folded-style emerald does not go with {}", name);
  return {};
}

}  // namespace ringside::cli
