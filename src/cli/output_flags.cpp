#include "cli/output_flags.h"

#include <map>

#include "cli/options.h"

namespace ringside::cli {

void add_owner_level_flag(App& app, views::OwnerLevel& level) {
  using views::OwnerLevel;
  static const std::map<std::string, OwnerLevel> kLevels = {{"none", OwnerLevel::kNone},
                                                            {"comm", OwnerLevel::kComm},
                                                            {"pid", OwnerLevel::kPid},
                                                            {"tid", OwnerLevel::kTid}};
  app.add_option_function(
         "--by", [&level](const std::string& name) { level = kLevels.at(name); },
         "The frame at the root of each stack, where processes are known: comm, pid shows "
         "comm-PID, tid comm-PID/TID")
      ->type_name("LEVEL")
      ->one_of({"comm", "pid", "tid", "none"})
      ->default_str("comm");
}

void add_stack_style_flags(App& app, exporters::ExportOptions& options) {
  add_owner_level_flag(app, options.by);
  app.add_option("--folded-style", options.folded_style,
                 "Folded stacks: plain, or as Emerald's profiler writes them, Kernel;… and User "
                 "PID=7 (name);…")
      ->type_name("STYLE")
      ->one_of({"plain", "emerald"})
      ->default_str("plain");
}

}  // namespace ringside::cli
