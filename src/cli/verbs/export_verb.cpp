#include "cli/verbs/export_verb.h"

#include "app/folded_input.h"
#include "app/messages.h"
#include "app/outputs.h"
#include "cli/options.h"
#include "cli/output_flags.h"
#include "cli/reader_flags.h"
#include "exporters/emerald.h"
#include "exporters/json_lines.h"

namespace ringside::cli {

void ExportVerb::add_options(App& app) {
  App& output = app.section(kOutputSection);
  output
      .add_option("--format", format_,
                  "folded: one line a stack, outermost frame first, and its weight; "
                  "json-lines: every sample with its frames' addresses, one JSON object a line. "
                  "Without it the output's extension chooses: .folded, .jsonl or .svg")
      ->type_name("NAME")
      ->one_of({"folded", "json-lines"})
      ->default_str("folded");
  output.add_option("-o,--output", output_, "The file; - is standard output")
      ->type_name("FILE")
      ->capture_default_str();
  output.add_flag("--per-cpu", options_.per_vcpu, "A first frame for each vCPU");
  output.add_flag("--show-idle", options_.show_idle, "Idle vCPUs as a stack of their own");
  output.add_flag("--annotate-kernel", options_.annotate_kernel,
                  "_[k] behind the kernel's functions, as stackcollapse-perf.pl --kernel has it");
  add_stack_style_flags(output, style_);
  add_reader_flags(app, settings_);
}

Result<app::OutputFormat> ExportVerb::format() const {
  using enum app::OutputFormat;
  const std::string asked = format_.empty() ? style_.asked : "--format " + format_;
  return app::format_of(output_, format_ == "json-lines" ? kJsonLines : kFolded, asked,
                        {kFolded, kJsonLines, kSvg});
}

Result<void> ExportVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const app::OutputFormat format, this->format());
  if (format == app::OutputFormat::kJsonLines) return write_samples();
  if (style_.emerald && (options_.per_vcpu || options_.show_idle || options_.annotate_kernel))
    return fail(ErrorCode::kUsage,
                "--folded-style emerald knows neither --per-cpu, --show-idle nor "
                "--annotate-kernel");
  RINGSIDE_ASSIGN(const auto profile, app::open_profile(settings_));
  if (style_.emerald && !profile.input.empty())
    return fail(ErrorCode::kUsage,
                "--folded-style emerald needs a recording: {} does not say what is kernel code",
                settings_.input);
  if (format == app::OutputFormat::kSvg) return app::write_stacks(profile, output_, format, style_);
  options_.by = style_.by;
  return app::write_to(output_, [&](exporters::Sink& sink) {
    if (style_.emerald) return exporters::write_emerald_folded(profile, sink);
    return exporters::write_folded(profile, options_, sink);
  });
}

Result<void> ExportVerb::write_samples() {
  if (settings_.filters() || settings_.no_irq_join || options_.per_vcpu)
    return fail(
        ErrorCode::kUsage,
        "--format json-lines writes every sample as it is: -k, -u, -C, --comm, --pid, --tid, "
        "--source, --value, --time, --no-irq-join and --per-cpu do not go with it");
  if (app::is_folded_input(settings_))
    return fail(ErrorCode::kUsage,
                "{} is folded text, which has no single samples: name a recording",
                settings_.input);
  RINGSIDE_ASSIGN(auto opened, app::open_recording(settings_));
  if (const std::string damage = opened.reader.damage(); !damage.empty())
    app::say("ringside: " + damage);
  RINGSIDE_TRY(app::write_to(output_, [&](exporters::Sink& sink) -> Result<void> {
    RINGSIDE_ASSIGN(const auto left_out,
                    exporters::write_json_lines(opened.reader, opened.symbols, sink));
    for (const std::string& text : left_out) app::say("ringside: " + text);
    return {};
  }));
  for (const std::string& warning : opened.symbols.warnings()) app::say("ringside: " + warning);
  return {};
}

}  // namespace ringside::cli
