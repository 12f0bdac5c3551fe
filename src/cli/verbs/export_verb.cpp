#include "cli/verbs/export_verb.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "app/folded_input.h"
#include "app/outputs.h"
#include "cli/options.h"
#include "cli/output_flags.h"
#include "cli/reader_flags.h"
#include "cli/terminal.h"

namespace ringside::cli {
namespace {

std::vector<std::string> format_names() {
  std::vector<std::string> names;
  for (const exporters::Format& format : exporters::formats()) names.emplace_back(format.name);
  return names;
}

// "The format; … folded: one line a stack (.folded); pprof: …"
std::string format_help() {
  std::string text = "The format; without it the output's extension chooses";
  std::string_view between = ". ";
  for (const exporters::Format& format : exporters::formats()) {
    text += fmt::format("{}{}: {} ({})", between, format.name, format.summary,
                        fmt::join(format.extensions, ", "));
    between = "; ";
  }
  return text;
}

}  // namespace

void ExportVerb::add_options(App& app) {
  App& output = app.section(kOutputSection);
  output.add_option("--format", format_, format_help())
      ->type_name("NAME")
      ->one_of(format_names())
      ->default_str("folded");
  output.add_option("-o,--output", output_, "The file; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  style_ = &app.section("Contents");
  style_->add_flag("--per-cpu", options_.per_vcpu, "A first frame for each vCPU");
  style_->add_flag("--show-idle", options_.show_idle, "Idle vCPUs as a stack of their own");
  style_->add_flag("--annotate-kernel", options_.annotate_kernel,
                   "_[k] behind the kernel's functions, as stackcollapse-perf.pl --kernel has it");
  add_stack_style_flags(*style_, options_);
  style_
      ->add_option("--redox-style", options_.redox_style,
                   "Frames as Redox' profiling tool writes them: letters of o (function+offset), x "
                   "(a function, and function+offset as its child), i (also beyond a symbol's "
                   "size); _ for none of them")
      ->type_name("LETTERS");
  add_reader_flags(app, settings_);
}

Result<const exporters::Format*> ExportVerb::format() const {
  const bool has_style = !options_.folded_style.empty();
  const std::string asked = !format_.empty() ? "--format " + format_
                            : has_style      ? "--folded-style " + options_.folded_style
                                             : "";
  const std::string extension = std::filesystem::path(output_).extension().string();
  if (asked.empty() && !extension.empty() && output_ != "-")
    RINGSIDE_TRY(app::check_extension(output_));
  return app::format_of(output_, format_.empty() ? "folded" : format_, asked, {});
}

// No option is ignored.
Result<void> ExportVerb::check_options(const exporters::Format& format) const {
  for (const Option* const option : style_->own_options()) {
    const std::string name = option->names().back();
    if (!option->is_given() || format.takes_option(name)) continue;
    std::vector<std::string> others;
    for (const exporters::Format& other : exporters::formats())
      if (other.takes_option(name)) others.emplace_back(other.name);
    return fail(ErrorCode::kUsage, "{} does not go with the format {}, but with {}", name,
                format.name, fmt::join(others, ", "));
  }
  RINGSIDE_TRY(check_stack_style(*style_, options_));
  if (options_.redox_style.find_first_not_of("oxi_") != std::string::npos)
    return fail(ErrorCode::kUsage, "--redox-style {}: give letters of o, x and i, or _ for none",
                options_.redox_style);
  if (options_.folded_style != "emerald") return {};
  RINGSIDE_ASSIGN(const auto resolved, app::resolved(settings_));
  if (resolved.format == app::kFoldedFormat)
    return fail(ErrorCode::kUsage,
                "--folded-style emerald needs a recording: {} does not say what is kernel code",
                settings_.input());
  return {};
}

Result<void> ExportVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const exporters::Format* const format, this->format());
  if (format->is_binary && output_ == "-" && output_is_terminal())
    return fail(ErrorCode::kUsage,
                "--format {} is not text for a terminal: name a file with -o, such as -o out{}",
                format->name, format->extensions.front());
  RINGSIDE_TRY(check_options(*format));
  settings_.symbols.beyond_sizes = options_.redox_style.find('i') != std::string::npos;
  return app::write_export(settings_, output_, *format, options_);
}

}  // namespace ringside::cli
