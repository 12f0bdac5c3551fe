#include "cli/verbs/mem_verb.h"

#include <utility>

#include "app/messages.h"
#include "app/outputs.h"
#include "cli/options.h"
#include "cli/picture_flags.h"
#include "cli/reader_flags.h"

namespace ringside::cli {
namespace {

const std::vector<std::string>& value_names() {
  static const std::vector<std::string> kNames(views::kBlockValueNames.begin(),
                                               views::kBlockValueNames.end());
  return kNames;
}

views::BlockMeasure measure_of(const std::string& name) {
  return name == "count" ? views::BlockMeasure::kCount : views::BlockMeasure::kSize;
}

}  // namespace

// Those of both.
void MemVerb::add_choice(App& which) {
  which
      .add_option("--allocator", request_.allocators, "These allocators only, such as malloc,slab")
      ->type_name("NAMES")
      ->delimiter(',')
      ->allow_extra_args(false);
  which
      .add_option("--older-than", request_.older_than,
                  "How long older blocks are live at least, such as 10s; a number of events where "
                  "the recording has no times")
      ->type_name("TIME");
  which
      .add_option(
          "--since", request_.since,
          "The moment of the recording since which growth counts: it is what is live at the "
          "end without what was live then")
      ->type_name("TIME");
  which.add_flag("--in-events", request_.in_events,
                 "Count ages, lifetimes and other times in the allocator's own events");
  which.add_option("--by", measure_, "Sizes, in the allocator's unit, or the number of blocks")
      ->type_name("NAME")
      ->one_of({"size", "count"})
      ->capture_default_str();
}

void MemVerb::add_report(App& app) {
  App& what = app.section("Contents");
  what.add_option("--order", value_,
                  "Sort rows by what is live at the end, was live at the peak, was allocated in "
                  "all, was freed, is older, or has grown (default: live; older with --older-than, "
                  "growth with --since)")
      ->type_name("NAME")
      ->one_of(value_names());
  add_choice(what);
  what.add_option("--group", group_,
                  "A row for each function that has allocated, or for each stack")
      ->type_name("NAME")
      ->one_of({"function", "stack"})
      ->capture_default_str();
  what.add_option("--pass", passing_,
                  "Functions that allocate for their callers, such as 'kmalloc*,xalloc': the row "
                  "is the caller's")
      ->type_name("PATTERNS")
      ->delimiter(',')
      ->allow_extra_args(false);
  what.add_option("--rows", rows_, "Show at most so many rows of a table")->type_name("N");
  what.add_option("--format", format_, "text for people; csv or json for programs")
      ->type_name("NAME")
      ->one_of({"text", "csv", "json"})
      ->capture_default_str();
  screen_.add_to(app.section("At a terminal"));
  add_allocation_flags(app, request_.settings);
}

void MemVerb::add_flamegraph(App& app) {
  App& picture = app.section("The pictures");
  picture
      .add_option("-o,--output", pictures_.folder,
                  "The folder of the pictures, mem-ALLOCATOR.svg each")
      ->type_name("DIR")
      ->capture_default_str();
  picture
      .add_option("--value", value_,
                  "What is live at the end, was live at the peak, was allocated in all, was freed, "
                  "is older, or has grown (default: live; older with --older-than, growth with "
                  "--since)")
      ->type_name("NAME")
      ->one_of(value_names());
  add_choice(picture);
  add_picture_flags(picture, pictures_.picture);
  add_coloring_flags(picture, pictures_.picture, "memory");
  add_allocation_flags(app, request_.settings);
  app.section(kSamplesSection)
      .add_option("--alloc", alloc_,
                  "A memtrace of Maestro, drawn as Maestro's own tool does: functions that are not "
                  "known are ???")
      ->type_name("FILE")
      ->excludes(app.find_option("--input"))
      ->excludes(app.find_option("--input-format"));
}

void MemVerb::add_options(App& app) {
  app.require_subcommand(1);
  report_ = app.add_subcommand("report", "A summary and a table of each allocator");
  report_->examples(
      "mem report ringside.data\n"
      "mem report --order peak --by count ringside.data\n"
      "mem report --older-than 10s --group stack ringside.data\n"
      "mem report --format json memtrace.bin --kernel maestro > memory.json");
  add_report(*report_);
  flamegraph_ = app.add_subcommand("flamegraph", "A flame graph of each allocator");
  flamegraph_->examples(
      "mem flamegraph ringside.data -o pictures\n"
      "mem flamegraph --value peak --allocator buddy ringside.data\n"
      "mem flamegraph --alloc memtrace.bin --kernel maestro");
  pictures_.folder = ".";
  pictures_.picture.colors = exporters::FrameColoring::kMemory;
  pictures_.picture.by = views::RootFrame::kNone;
  add_flamegraph(*flamegraph_);
}

Result<void> MemVerb::run(const std::vector<std::string>&) {
  return report_->parsed() ? report() : flamegraph();
}

Result<void> MemVerb::report() {
  exporters::AllocationReportOptions options;
  RINGSIDE_ASSIGN(options.table.value, app::chosen_value(value_, request_));
  options.table.measure = measure_of(measure_);
  options.table.passing = passing_;
  options.table.names_have_places =
      request_.settings.show_lines || request_.settings.show_addresses;
  if (group_ == "stack") options.table.group = views::AllocationGroup::kStack;
  options.table.maximum_rows = rows_;
  if (!request_.older_than.empty()) options.older_than = request_.older_than;
  if (!request_.since.empty()) options.since = request_.since;
  RINGSIDE_ASSIGN(auto opened, app::open_allocations(request_));
  profile::DetailedProfile& details = *opened.details->profile;
  if (format_ != "text") {
    RINGSIDE_TRY(app::write_to("-", [&](exporters::Sink& sink) {
      return format_ == "csv"
                 ? exporters::write_allocation_csv(details, opened.allocators, options, sink)
                 : exporters::write_allocation_json(details, opened.allocators, options, sink);
    }));
    app::say_warnings(opened);
    return {};
  }
  options.width = screen_.width();
  RINGSIDE_TRY(screen_.show([&](exporters::Sink& sink) {
    return exporters::write_allocation_text(details, opened.allocators, options, sink);
  }));
  app::say_warnings(opened);
  return {};
}

Result<void> MemVerb::flamegraph() {
  if (!alloc_.empty()) {
    request_.settings.inputs = {alloc_};
    request_.settings.format = "maestro-memtrace";
    pictures_.profile.maestro_names = true;
  }
  RINGSIDE_ASSIGN(pictures_.profile.value, app::chosen_value(value_, request_));
  const views::BlockValue value = pictures_.profile.value;
  if (!request_.older_than.empty() && value != views::BlockValue::kOlder)
    return fail(ErrorCode::kUsage, "--older-than is for --value older, not {}", name_of(value));
  if (!request_.since.empty() && value != views::BlockValue::kGrowth)
    return fail(ErrorCode::kUsage, "--since is for --value growth, not {}", name_of(value));
  pictures_.profile.measure = measure_of(measure_);
  return app::draw_allocations(request_, pictures_);
}

}  // namespace ringside::cli
