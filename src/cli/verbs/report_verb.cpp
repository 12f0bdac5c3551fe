#include "cli/verbs/report_verb.h"

#include <algorithm>

#include "app/outputs.h"
#include "cli/options.h"
#include "cli/reader_flags.h"
#include "cli/verbs/call_graph_mode.h"
#include "exporters/report/data_report.h"
#include "exporters/report/text_report.h"
#include "profile/limit_stacks.h"
#include "views/sort_keys.h"

namespace ringside::cli {
namespace {

constexpr double kFoldedPercent = 0.5;  // rows below are one on a terminal
constexpr double kTreePercent = 0.5;    // as in perf

}  // namespace

void ReportVerb::add_options(App& app) {
  add_content(app.section("Contents"));
  lists_.add_to(app.section("Contents"));
  add_columns(app.section("Columns"));
  add_trees(app.section("Trees of calls"));
  add_rows(app.section("Rows"));
  screen_.add_to(app.section("At a terminal"));
  add_reader_flags(app, settings_);
}

void ReportVerb::add_content(App& what) {
  what.add_option("--format", format_,
                  "text for people; csv or json for programs: all rows, without --percent-limit")
      ->type_name("NAME")
      ->one_of({"text", "csv", "json"})
      ->capture_default_str();
  Option* per_cpu = what.add_flag("--per-cpu", per_vcpu_, "A table for each vCPU, too");
  what.add_flag("--no-per-cpu", no_vcpus_, "No table for each vCPU (the default)")
      ->excludes(per_cpu);
  text_only_ = {
      what.add_flag("--header", header_, "Show the machine, the guest and the statistics first"),
      what.add_flag("--header-only", header_only_, "Show these alone"),
      what.add_flag("-v,--verbose", verbose_, "--header, and how frames were found")};
}

void ReportVerb::add_columns(App& columns) {
  columns
      .add_option("-s,--sort", columns_.sort,
                  "Distinguish rows by these keys: comm, cgroup, pid, tid, tgid, vcpu, time, dso, "
                  "symbol, srcline, parent (default: comm,dso,symbol; where no processes are "
                  "known, dso,symbol). "
                  "In text, pid and tid are each thread with its name, as in perf, and tgid each "
                  "process. In csv and json, pid is each process, and tid each thread")
      ->type_name("KEYS")
      ->delimiter(',')
      ->allow_extra_args(false);
  columns
      .add_option("-F,--fields", columns_.fields,
                  "Show these columns: overhead, overhead_children, overhead_sys, overhead_us, "
                  "overhead_guest_sys, overhead_guest_us, sample, period, and the keys of --sort")
      ->type_name("FIELDS")
      ->delimiter(',')
      ->allow_extra_args(false);
  Option* const no_children =
      columns.add_flag("--no-children", columns_.no_children,
                       "Sort by the time of functions alone, without what they called");
  columns
      .add_flag("--children", columns_.children,
                "Sort by the time with what functions called (the default, where there are "
                "stacks)")
      ->excludes(no_children);
  columns.add_flag("-n,--show-nr-samples", columns_.samples, "Show how many samples a row has");
  columns.add_flag("--show-total-period", columns_.period, "Show the weight of a row's samples");
  columns
      .add_option("--time-quantum", columns_.time_quantum,
                  "How long each span of time is that the key time tells apart")
      ->type_name("TIME")
      ->capture_default_str();
  text_only_.push_back(
      columns
          .add_option("-t,--field-separator", separator_,
                      "Write this between columns, and pad none; -x, is the same with a comma")
          ->type_name("TEXT"));
  columns
      .add_option("-p,--parent", parent_,
                  "Functions that the key parent looks for, from the leaf outwards")
      ->type_name("REGEX")
      ->capture_default_str();
}

void ReportVerb::add_trees(App& trees) {
  tree_options_ = {
      trees
          .add_option("-g,--call-graph", call_graph_,
                      "The tree under each row: caller shows what it calls, callee who calls it, "
                      "none leaves it out. Then the least share in percent, and how many calls to "
                      "show at each place, as in caller,0.5,10 (default: caller,0.5; with "
                      "--no-children callee,0.5)")
          ->type_name("MODE")
          ->expected(0, 1),
      trees.add_flag("-G,--inverted", inverted_, "The same as -g caller")};
  text_only_.insert(text_only_.end(), tree_options_.begin(), tree_options_.end());
  trees
      .add_option(
          "--max-stack", max_stack_,
          "Look at so many functions of each stack: the innermost, or the outermost where trees "
          "show callees, as in perf (default: all)")
      ->type_name("N")
      ->range(1u, 1000000u);
}

void ReportVerb::add_rows(App& rows) {
  rows.add_option("--percent-limit", percent_limit_,
                  "Sum up rows below this share, and leave out calls below it (default: 0.5 at a "
                  "terminal; else 0 for rows, 0.5 for calls)")
      ->type_name("PERCENT")
      ->range(0.0, 100.0);
  rows.add_option("--rows", rows_, "Show at most so many rows of a table")->type_name("N");
  rows.add_option("-d,--dso,--dsos", filter_.images,
                  "Rows of these programs, libraries or modules only")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  rows.add_option("-S,--symbol", filter_.symbols,
                  "Rows of these functions only, as perf's --symbols")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  rows.add_option("--symbol-filter", filter_.part_of_symbol,
                  "Rows of functions only whose name has this part")
      ->type_name("TEXT");
  rows.add_flag("-x,--exclude-other", only_with_parent_,
                "Rows only of samples with a function that --parent matches");
}

// perf reads a stack in the order in which its trees show it.
void ReportVerb::limit_stacks(const exporters::ReportOptions& options,
                              profile::Profile& profile) const {
  if (max_stack_ == 0) return;
  profile::limit_stacks(
      profile, max_stack_,
      options.trees.callees ? profile::KeptFrames::kOutermost : profile::KeptFrames::kInnermost);
}

// A table for programs: the same whether a terminal shows it or not.
Result<void> ReportVerb::write_data(profile::Profile& profile) const {
  for (const Option* const option : text_only_)
    if (option->is_typed())
      return fail(ErrorCode::kUsage, "--format {}: {} is for text", format_,
                  option->names().front());
  if (format_ == "csv" && per_vcpu_)
    return fail(ErrorCode::kUsage,
                "--format csv is one table: use --sort vcpu,symbol instead of --per-cpu");
  exporters::ReportOptions options;
  RINGSIDE_TRY(choose_data_columns(columns_, profile, options));
  RINGSIDE_TRY(set_options(profile, options));
  options.minimum_percent = percent_limit_.value_or(0);
  options.trees.callees = !columns_.no_children;
  limit_stacks(options, profile);
  return app::write_to("-", [&](exporters::Sink& sink) {
    return format_ == "csv" ? exporters::write_csv_report(profile, options, sink)
                            : exporters::write_json_report(profile, options, sink);
  });
}

Result<void> ReportVerb::set_options(const profile::Profile& profile,
                                     exporters::ReportOptions& options) const {
  const views::SortKeys keys(options.overhead.keys);
  const bool has_symbol = keys.has(views::SortKey::kSymbol);
  if (!has_symbol && !(filter_.symbols.empty() && filter_.part_of_symbol.empty()))
    return fail(ErrorCode::kUsage, "-S and --symbol-filter need the key symbol in --sort or -F");
  if (!has_symbol && !keys.has(views::SortKey::kDso) && !filter_.images.empty())
    return fail(ErrorCode::kUsage, "-d needs the key dso or symbol in --sort or -F");
  options.filter = filter_;
  options.overhead.only_with_parent = only_with_parent_;
  options.overhead.per_vcpu = per_vcpu_;
  // Where the code is comes first: one small function may be inlined into all that is hot.
  options.overhead.inlined_rows = settings_.symbols.inline_is_given;
  RINGSIDE_ASSIGN(options.overhead.is_parent, find_parents(profile, parent_));
  options.maximum_rows = rows_;
  return {};
}

Result<void> ReportVerb::set_trees(const profile::Profile& profile,
                                   exporters::ReportOptions& options) const {
  RINGSIDE_ASSIGN(const CallGraphMode mode,
                  parse_call_graph_mode(call_graph_.empty() ? "graph" : call_graph_));
  options.call_graph = mode.is_wanted && has_callers(profile);
  options.trees.callees = mode.callees.value_or(inverted_ || options.trees.with_callees);
  options.trees.minimum_share =
      mode.minimum_percent.value_or(percent_limit_.value_or(kTreePercent)) / 100;
  options.trees.most_siblings = mode.most_siblings;
  options.tree_has_row =
      columns_.sort.empty() || !columns_.fields.empty() || !columns_.sort[0].starts_with("sym");
  return {};
}

Result<void> ReportVerb::write_text(profile::Profile& profile) const {
  exporters::ReportOptions options;
  RINGSIDE_TRY(choose_columns(columns_, profile, options));
  RINGSIDE_TRY(set_options(profile, options));
  RINGSIDE_TRY(set_trees(profile, options));
  const bool folds = screen_.is_terminal() && separator_.empty();
  options.minimum_percent = percent_limit_.value_or(folds ? kFoldedPercent : 0);
  options.width = screen_.width();
  options.may_leave_out_columns = columns_.are_usual();
  options.separator = separator_;
  if (!separator_.empty()) {
    if (options.call_graph && std::any_of(tree_options_.begin(), tree_options_.end(),
                                          [](const Option* each) { return each->is_typed(); }))
      return fail(ErrorCode::kUsage,
                  "rows with a separator have no trees: leave out -g and -G, or -t");
    options.call_graph = false;
  }
  limit_stacks(options, profile);
  return screen_.show([&](exporters::Sink& sink) -> Result<void> {
    RINGSIDE_TRY(header_ || header_only_ || verbose_
                     ? exporters::write_header(profile, sink, verbose_)
                     : exporters::write_warnings(profile, sink));
    return header_only_ ? Result<void>() : exporters::write_report(profile, options, sink);
  });
}

Result<void> ReportVerb::run(const std::vector<std::string>&) {
  RINGSIDE_ASSIGN(const std::uint64_t span_ns, columns_.span_ns());
  if (lists_.are_wanted() && format_ != "text")
    return fail(ErrorCode::kUsage, "--events and --build-ids are text: leave out --format");
  if (lists_.are_wanted()) return lists_.write(settings_, screen_, verbose_);
  app::ReaderSettings settings = settings_;
  settings.span_ns = span_ns;
  settings.source_lines = columns_.has("srcline");
  RINGSIDE_ASSIGN(auto profile, app::open_profile(settings));
  return format_ == "text" ? write_text(profile) : write_data(profile);
}

}  // namespace ringside::cli
