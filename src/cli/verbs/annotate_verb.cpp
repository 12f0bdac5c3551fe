#include "cli/verbs/annotate_verb.h"

#include <filesystem>

#include "app/outputs.h"
#include "cli/options.h"
#include "cli/reader_flags.h"
#include "exporters/annotation/json_annotation.h"

namespace ringside::cli {
namespace {

constexpr std::size_t kMostFunctions = 20;  // of one name

bool is_file(const std::string& name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(name, ignored);
}

}  // namespace

void AnnotateVerb::add_options(App& app) {
  App& what = app.section("Contents");
  what.add_option("FUNCTION", request_.function,
                  "The function's name, as report has it; without one, the function with the most "
                  "samples. Every function of that name is shown; where it is only inlined, its "
                  "instructions in each other function");
  what.add_option(
          "--source", request_.source_folders,
          "Look for source files below this folder, too; may be given several times. Others "
          "are read below the working folder and --kernel's alone")
      ->type_name("DIR")
      ->existing_directory()
      ->allow_extra_args(false);
  what.add_option("--format", format_, "text for people; json for programs: everything")
      ->type_name("NAME")
      ->one_of({"text", "json"})
      ->capture_default_str();
  what.add_option("--functions", functions_,
                  "Show at most so many functions, the heaviest first (default: 20 of one name, "
                  "without a name 1)")
      ->type_name("N")
      ->range(1u, 1000000u);
  what.add_option("--disassembler-style", syntax_, "How x86 instructions are written")
      ->type_name("STYLE")
      ->one_of({"att", "intel"})
      ->capture_default_str();
  what.add_flag("--show-code", options_.show_code, "Show the bytes of each instruction");
  screen_.add_to(app.section("At a terminal"));
  add_reader_flags(app, request_.settings, "--sample-source");
  kernel_ = app.find_option("--kernel");
}

Result<void> AnnotateVerb::run(const std::vector<std::string>&) {
  request_.syntax = syntax_ == "intel" ? annotation::Syntax::kIntel : annotation::Syntax::kAtt;
  request_.kernel_has_sources = kernel_ != nullptr && kernel_->is_typed();
  request_.most_functions = functions_.value_or(request_.function.empty() ? 1 : kMostFunctions);
  auto opened = app::AnnotatedRecording::open(request_);
  if (!opened && is_file(request_.function))
    return fail(opened.error().code, "{}. {} is a file: to annotate a recording, give it with -i",
                opened.error().message, request_.function);
  RINGSIDE_ASSIGN(const auto recording, std::move(opened));
  options_.width = screen_.width();
  options_.show_addresses = request_.settings.show_addresses;
  const auto write = [&](exporters::Sink& sink) {
    return format_ == "json" ? exporters::write_json_annotation(recording->annotation(), sink)
                             : exporters::write_annotation(recording->annotation(), options_, sink);
  };
  RINGSIDE_TRY(format_ == "json" ? app::write_to("-", write) : screen_.show(write));
  recording->say_missing();
  return {};
}

}  // namespace ringside::cli
