#include "cli/report_verb.h"

#include "cli/options.h"
#include "cli/outputs.h"
#include "exporters/text_report.h"

namespace ringside::cli {

void ReportVerb::add_options(App& app) {
  const auto accept = [](std::int64_t) {};  // what is the default anyway
  flags_.add_to(app);
  app.add_flag_function("--stdio", accept, "Text on standard output (the default)");
  app.add_flag("--children", children_, "Sort by the time with callees");
  app.add_flag("--header", header_, "Show the machine, the guest and the statistics first");
  app.add_flag("-v,--verbose", verbose_, "--header, and how frames were found");
  app.add_flag("-g,--call-graph", call_graph_, "Show what each outermost function called");
  app.add_flag("--no-per-cpu", no_vcpus_, "No table for each vCPU");
  app.add_option("--percent-limit", percent_limit_, "Sum up rows below this share")
      ->type_name("PERCENT")
      ->range(0.0, 100.0);
  app.add_option(
         "-s,--sort", sort_,
         "Tell rows apart by these: comm, cgroup, pid, tid, vcpu, dso, symbol, parent (default: "
         "comm,dso,symbol; where no processes are known, symbol)")
      ->type_name("KEY[,..]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-F,--fields", fields_,
                 "Show these columns: overhead, overhead_children, sample, and the keys of --sort")
      ->type_name("FIELD[,..]")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("-p,--parent", parent_, "What the key parent looks for, from the leaf outwards")
      ->type_name("REGEX")
      ->capture_default_str();
  app.add_option("--rows", rows_, "Show at most so many rows of a table")->type_name("N");
}

Result<void> ReportVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const auto profile, open_profile(flags_));
  exporters::ReportOptions options;
  options.overhead.sort =
      children_ ? views::OverheadOptions::Sort::kTotal : views::OverheadOptions::Sort::kSelf;
  options.overhead.per_vcpu = !no_vcpus_ && sort_.empty() && fields_.empty();
  // Where the code is comes first: one small function may be inlined into all that is hot.
  options.overhead.inlined_rows = flags_.symbols.inline_is_given;
  RINGSIDE_TRY(choose_columns(sort_, fields_, profile.knows_processes, options));
  RINGSIDE_ASSIGN(options.overhead.is_parent, find_parents(profile, parent_));
  options.minimum_percent = percent_limit_;
  options.maximum_rows = rows_;
  options.call_graph = call_graph_;
  return write_to("-", [&](exporters::Sink& sink) -> Result<void> {
    RINGSIDE_TRY(header_ || verbose_ ? exporters::write_header(profile, sink, verbose_)
                                     : exporters::write_warnings(profile, sink));
    return exporters::write_report(profile, options, sink);
  });
}

}  // namespace ringside::cli
