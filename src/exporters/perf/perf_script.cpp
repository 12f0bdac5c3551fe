#include "exporters/perf/perf_script.h"

#include <fmt/core.h>

#include "exporters/perf/script_text.h"
#include "profile/sanitize.h"

namespace ringside::exporters {
namespace {

constexpr std::string_view kRedoxKernel = "kernel";  // the root frame of Redox' pictures

// "[name+12b] (kernel)"; with x its function stands below it as the caller. Readers split a line
// at its last blank, and a name may have blanks, so the parentheses have none.
std::string redox_lines(const profile::Profile& all, const profile::DetailedFrame& frame,
                        const std::string& style) {
  const auto has = [&](char letter) { return style.find(letter) != std::string::npos; };
  const auto line = [&frame](std::string_view name, std::string_view image) {
    return fmt::format("\t{:16x} [{}] ({})\n", frame.address.value, name, image);
  };
  const profile::Frame& function = all.frames[frame.functions.front()];
  const std::string_view image = function.kind == profile::Kind::kUser ? "user" : kRedoxKernel;
  const std::string_view name = all.name(function);
  if (function.kind == profile::Kind::kUnknown || name == profile::kUserName)
    return line("unknown", fmt::format("[{}]", image));
  if (frame.symbol.size == 0 || !(has('o') || has('x'))) return line(name, image);
  const std::uint64_t offset = frame.address - frame.symbol.start;
  return line(fmt::format("{}+{:x}", name, offset), image) + (has('x') ? line(name, image) : "");
}

}  // namespace

Result<void> write_perf_script(profile::DetailedProfile& profile, const ExportOptions& options,
                               Sink& sink) {
  ScriptOptions script;
  script.fields.set(ScriptField::kPid, true);
  script.nanoseconds = true;
  script.may_be_one_line = false;
  script.show_idle = options.show_idle;
  if (!options.redox_style.empty()) {
    script.comm = kRedoxKernel;
    script.lines = [&](const profile::DetailedFrame& frame) {
      return redox_lines(profile.profile(), frame, options.redox_style);
    };
  }
  RINGSIDE_TRY(write_script(profile, script, sink));
  return {};
}

}  // namespace ringside::exporters
