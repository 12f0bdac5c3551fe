#include "cli/outputs.h"

#include <filesystem>
#include <map>

#include "cli/options.h"
#include "exporters/emerald.h"
#include "exporters/folded.h"
#include "exporters/svg_flamegraph.h"

namespace ringside::cli {

Result<void> write_to(const std::string& path,
                      const std::function<Result<void>(exporters::Sink&)>& write) {
  RINGSIDE_ASSIGN(auto sink, exporters::FileSink::create(path));
  RINGSIDE_TRY(write(sink));
  return sink.commit();
}

Result<void> check_extension(const std::string& path) {
  const auto extension = std::filesystem::path(path).extension();
  if (extension == ".svg" || extension == ".folded") return {};
  return fail(ErrorCode::kUsage, "-o {}: no format has this extension; give .svg or .folded", path);
}

void add_owner_level(App& app, views::OwnerLevel& level) {
  using views::OwnerLevel;
  static const std::map<std::string, OwnerLevel> kLevels = {{"none", OwnerLevel::kNone},
                                                            {"comm", OwnerLevel::kComm},
                                                            {"pid", OwnerLevel::kPid},
                                                            {"tid", OwnerLevel::kTid}};
  app.add_option_function(
         "--by", [&level](const std::string& name) { level = kLevels.at(name); },
         "The frame at the root of each stack, where processes are known: comm, pid (comm-PID) or "
         "tid (comm-PID/TID)")
      ->one_of({"comm", "pid", "tid", "none"})
      ->default_str("comm");
}

void StackStyle::add_to(App& app) {
  add_owner_level(app, by);
  app.add_option_function(
         "--folded-style", [this](const std::string& style) { emerald = style == "emerald"; },
         "Folded stacks: plain, or as Emerald's profiler writes them, Kernel;… and User PID=7 "
         "(name);…")
      ->one_of({"plain", "emerald"})
      ->default_str("plain");
}

Result<void> write_by_extension(const profile::Profile& profile, const std::string& path,
                                const StackStyle& style) {
  RINGSIDE_TRY(check_extension(path));
  return write_to(path, [&](exporters::Sink& sink) {
    if (std::filesystem::path(path).extension() == ".svg") {
      exporters::FlamegraphOptions options;
      options.by = style.by;
      return exporters::write_flamegraph(profile, options, sink);
    }
    if (style.emerald) return exporters::write_emerald_folded(profile, sink);
    exporters::FoldedOptions options;
    options.by = style.by;
    return exporters::write_folded(profile, options, sink);
  });
}

}  // namespace ringside::cli
