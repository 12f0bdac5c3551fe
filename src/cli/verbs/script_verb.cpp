#include "cli/verbs/script_verb.h"

#include <fmt/ranges.h>

#include <cstdint>

#include "app/messages.h"
#include "cli/options.h"
#include "cli/reader_flags.h"
#include "cli/verbs/script_fields.h"
#include "exporters/perf/script_text.h"
#include "exporters/report/text_report.h"

namespace ringside::cli {

void ScriptVerb::add_options(App& app) {
  add_content(app.section("Contents"));
  screen_.add_pager_to(app.section("At a terminal"));
  App& which = app.section(kSamplesSection);
  which
      .add_option("-S,--symbol-names", symbols_,
                  "Samples at these functions only, such as memcpy,schedule; --symbols is the file "
                  "with the kernel's symbols")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  add_reader_flags(app, settings_);
}

void ScriptVerb::add_content(App& what) {
  what.add_option("-F,--fields", fields_,
                  "Print these fields: " + script_field_names() +
                      "; +NAME adds one to the usual ones, -NAME leaves one out (default: all but "
                      "pid and srcline)")
      ->type_name("FIELDS")
      ->allow_extra_args(false);
  what.add_flag("-G,--hide-call-graph", options_.hide_call_graph,
                "Print the innermost function alone, on the sample's line");
  what.add_option("--max-stack", max_stack_, "Print at most so many frames (default: all)")
      ->type_name("N")
      ->range(1u, 1000000u);
  what.add_flag("--ns", options_.nanoseconds, "Print times with nanoseconds");
  Option* const first =
      what.add_flag("--reltime", from_first_, "Print times from the first sample on");
  what.add_flag("--deltatime", from_previous_, "Print the time since the sample before")
      ->excludes(first);
  what.add_flag("--show-idle", options_.show_idle, "Print samples of idle vCPUs, too");
  what.add_flag("--header", header_, "Print the machine, the guest and the statistics first");
}

Result<void> ScriptVerb::run(const std::vector<std::string>&) {
  using Origin = exporters::ScriptOptions::TimeOrigin;
  RINGSIDE_ASSIGN(options_.fields, read_script_fields(fields_));
  options_.max_stack = max_stack_;
  options_.origin = from_first_      ? Origin::kFirst
                    : from_previous_ ? Origin::kPrevious
                                     : Origin::kClock;
  options_.symbols = {symbols_.begin(), symbols_.end()};
  RINGSIDE_ASSIGN(const auto opened, app::open_details(settings_));
  std::uint64_t samples = 0;
  const auto write = [&](exporters::Sink& sink) -> Result<void> {
    if (header_) RINGSIDE_TRY(exporters::write_header(opened->profile->profile(), sink));
    RINGSIDE_ASSIGN(samples, exporters::write_script(*opened->profile, options_, sink));
    return {};
  };
  RINGSIDE_TRY(screen_.show(write));
  for (const std::string& warning :
       opened->recording.symbols.warnings(!opened->profile->profile().is_whole()))
    app::say("ringside: " + warning);
  if (samples == 0 && !symbols_.empty())
    return fail(ErrorCode::kNotFound, "{}: no sample is at {}", settings_.input(),
                fmt::join(symbols_, " or "));
  return {};
}

}  // namespace ringside::cli
