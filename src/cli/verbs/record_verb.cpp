#include "cli/verbs/record_verb.h"

#include <filesystem>

#include "app/messages.h"
#include "app/open_profile.h"
#include "app/outputs.h"
#include "app/record_session.h"
#include "cli/options.h"
#include "cli/sampling_flags.h"
#include "exporters/broken_in_words.h"
#include "exporters/cut_in_words.h"
#include "exporters/empty_in_words.h"
#include "exporters/format.h"
#include "exporters/report/text_report.h"

namespace ringside::cli {
namespace {

// The statistics of a recording, on standard error. Why it has no sample; empty: it has.
Result<std::string> say_summary(const std::string& recording,
                                const app::SamplingSettings& sampling) {
  app::ReaderSettings settings;
  settings.inputs = {recording};
  settings.format = app::kRecordingFormat;
  settings.kernel = sampling.kernel;
  settings.kernel_symbols = sampling.symbols;
  settings.may_be_empty = true;
  RINGSIDE_ASSIGN(const auto profile, app::open_profile(settings));
  exporters::StringSink sink;
  RINGSIDE_TRY(exporters::write_summary(profile, sink));
  if (sampling.verbose) RINGSIDE_TRY(exporters::write_unwinding_detail(profile, sink));
  const std::string& text = sink.text();
  app::say_lines(text.substr(0, text.size() - (text.ends_with('\n') ? 1 : 0)));
  for (const std::string& words : exporters::all_in_words(profile)) app::say("ringside: " + words);
  for (const std::string& words : exporters::broken_in_words(profile))
    app::say("ringside: " + words);
  return exporters::empty_in_words(profile);
}

}  // namespace

void RecordVerb::add_options(App& app) {
  add_sampling_flags(app, settings_, Counted::kStacks);
  app.section(kOutputSection)
      .add_option("-o,--output", output_,
                  "The recording; - streams it to standard output. A name that ends in .perf.data "
                  "gets perf's format at the end of the recording")
      ->type_name("FILE")
      ->capture_default_str();
  app.section(kAdvancedSection)
      .add_flag("--keep-captures", settings_.keep_captures,
                "Also store what each stack was unwound from, for 'ringside case extract'");
  app.section(kNamesSection)
      .add_flag("--debuginfod", settings_.system.debuginfod,
                "Ask the servers of $DEBUGINFOD_URLS for the kernel's types where it has none");
}

// The recording becomes perf's file, which it stood beside.
Result<void> RecordVerb::export_to_perf(const std::string& recording) const {
  app::ReaderSettings settings;
  settings.inputs = {recording};
  settings.format = app::kRecordingFormat;
  settings.kernel = settings_.kernel;
  settings.kernel_symbols = settings_.symbols;
  const exporters::Format* const format = exporters::format_named("perf-data");
  if (auto written = app::write_export(settings, output_, *format, {}); !written)
    return fail(ErrorCode::kIo, "{}; the recording is kept in {}", written.error().message,
                recording);
  std::error_code ignored;
  std::filesystem::remove(recording, ignored);
  app::say(fmt::format("ringside: wrote {}", output_));
  return {};
}

Result<void> RecordVerb::run(const std::vector<std::string>& command) {
  launches_ = !command.empty();
  settings_.settle(!command.empty());
  const bool wants_perf = output_.ends_with(".perf.data");
  if (wants_perf) {
    RINGSIDE_TRY(app::check_output(output_));
    RINGSIDE_TRY(app::check_no_recording(output_));
  }
  const std::string recording = wants_perf ? output_ + ".ringside" : output_;
  const auto on_recorded = [&](const app::RecordSummary& summary) -> Result<void> {
    if (output_ == "-") {
      if (summary.samples != 0 || summary.events != 0) return {};
      return tl::unexpected<Error>(app::without_samples(summary, {}));
    }
    RINGSIDE_ASSIGN(const std::string empty, say_summary(recording, settings_));
    if (!empty.empty()) return tl::unexpected<Error>(app::without_samples(summary, empty));
    if (wants_perf) return export_to_perf(recording);
    app::say(fmt::format(
        "ringside: {} samples are in {}; look at them with 'ringside flamegraph -i {} -o "
        "kernel.svg' or 'ringside report -i {}'",
        summary.samples, output_, output_, output_));
    return {};
  };
  return app::record_guest({settings_, command, recording, "record", command_folder_}, on_recorded,
                           end_);
}

}  // namespace ringside::cli
