#include "cli/verbs/report_verb.h"

#include "app/outputs.h"
#include "cli/options.h"
#include "cli/reader_flags.h"
#include "exporters/report/data_report.h"
#include "exporters/report/text_report.h"

namespace ringside::cli {
namespace {

constexpr double kFoldedPercent = 0.5;  // rows below are one on a terminal

}  // namespace

void ReportVerb::add_options(App& app) {
  add_content(app.section("Contents"));
  screen_.add_to(app.section("At a terminal"));
  add_reader_flags(app, settings_);
}

void ReportVerb::add_content(App& what) {
  what.add_option("--format", format_,
                  "text for people; csv or json for programs: all rows, without --percent-limit")
      ->type_name("NAME")
      ->one_of({"text", "csv", "json"})
      ->capture_default_str();
  what.add_flag("--children", children_, "Sort by the time with callees");
  what.add_flag("-g,--call-graph", call_graph_, "Show what each outermost function called");
  what.add_option(
          "-s,--sort", sort_,
          "Distinguish rows by these keys: comm, cgroup, pid, tid, vcpu, dso, symbol, parent "
          "(default: comm,dso,symbol; where no processes are known, symbol)")
      ->type_name("KEYS")
      ->delimiter(',')
      ->allow_extra_args(false);
  what.add_option("-F,--fields", fields_,
                  "Show these columns: overhead, overhead_children, sample, and the keys of --sort")
      ->type_name("FIELDS")
      ->delimiter(',')
      ->allow_extra_args(false);
  what.add_option("--percent-limit", percent_limit_,
                  "Sum up rows below this share (default: 0.5 at a terminal, else 0)")
      ->type_name("PERCENT")
      ->range(0.0, 100.0);
  what.add_option("--rows", rows_, "Show at most so many rows of a table")->type_name("N");
  Option* per_cpu = what.add_flag("--per-cpu", per_vcpu_,
                                  "A table for each vCPU, too; the default in a pipe, unless "
                                  "--sort or -F is given");
  what.add_flag("--no-per-cpu", no_vcpus_, "No table for each vCPU")->excludes(per_cpu);
  what.add_flag("--header", header_, "Show the machine, the guest and the statistics first");
  what.add_flag("-v,--verbose", verbose_, "--header, and how frames were found");
  what.add_option("-p,--parent", parent_,
                  "Functions that the key parent looks for, from the leaf outwards")
      ->type_name("REGEX")
      ->capture_default_str();
}

// A table for programs: the same whether a terminal shows it or not.
Result<void> ReportVerb::write_data(const profile::Profile& profile) {
  if (call_graph_ || header_ || verbose_)
    return fail(ErrorCode::kUsage, "--format {}: -g, --header and -v are for text", format_);
  if (format_ == "csv" && per_vcpu_)
    return fail(ErrorCode::kUsage,
                "--format csv is one table: use --sort vcpu,symbol instead of --per-cpu");
  exporters::ReportOptions options;
  RINGSIDE_TRY(set_options(profile, options));
  options.overhead.per_vcpu = per_vcpu_;
  if (sort_.empty() && fields_.empty()) std::erase(options.columns, exporters::ReportColumn::kVcpu);
  return app::write_to("-", [&](exporters::Sink& sink) {
    return format_ == "csv" ? exporters::write_csv_report(profile, options, sink)
                            : exporters::write_json_report(profile, options, sink);
  });
}

Result<void> ReportVerb::set_options(const profile::Profile& profile,
                                     exporters::ReportOptions& options) const {
  options.overhead.sort =
      children_ ? views::OverheadOptions::Sort::kTotal : views::OverheadOptions::Sort::kSelf;
  // Where the code is comes first: one small function may be inlined into all that is hot.
  options.overhead.inlined_rows = settings_.symbols.inline_is_given;
  RINGSIDE_TRY(choose_columns(sort_, fields_, profile.knows_processes, options));
  RINGSIDE_ASSIGN(options.overhead.is_parent, find_parents(profile, parent_));
  options.minimum_percent = percent_limit_.value_or(0);
  options.maximum_rows = rows_;
  return {};
}

Result<void> ReportVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const auto profile, app::open_profile(settings_));
  if (format_ != "text") return write_data(profile);
  exporters::ReportOptions options;
  RINGSIDE_TRY(set_options(profile, options));
  const bool is_terminal = screen_.is_terminal();
  const bool has_usual_columns = sort_.empty() && fields_.empty();
  options.overhead.per_vcpu = per_vcpu_ || (!no_vcpus_ && !is_terminal && has_usual_columns);
  // It says "all" in every row of the one table.
  if (is_terminal && has_usual_columns && !options.overhead.per_vcpu)
    std::erase(options.columns, exporters::ReportColumn::kVcpu);
  options.minimum_percent = percent_limit_.value_or(is_terminal ? kFoldedPercent : 0);
  options.call_graph = call_graph_;
  options.width = screen_.width();
  options.may_leave_out_columns = has_usual_columns;
  return screen_.show([&](exporters::Sink& sink) -> Result<void> {
    RINGSIDE_TRY(header_ || verbose_ ? exporters::write_header(profile, sink, verbose_)
                                     : exporters::write_warnings(profile, sink));
    return exporters::write_report(profile, options, sink);
  });
}

}  // namespace ringside::cli
