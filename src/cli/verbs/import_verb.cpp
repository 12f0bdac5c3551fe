#include "cli/verbs/import_verb.h"

#include "app/messages.h"
#include "cli/options.h"

namespace ringside::cli {

void ImportVerb::add_options(App& app) {
  app.add_option("--format", format_,
                 "tcg: the file of ringside's TCG plugin (out=FILE); maestro: the raw data of "
                 "Maestro's CPU profiler, or of the plugin with out-format=maestro")
      ->type_name("NAME")
      ->one_of({"tcg", "maestro"})
      ->required();
  app.add_option("FILE", input_, "The file to read")->required();
  app.add_option("-o,--output", output_, "The recording")->type_name("FILE")->capture_default_str();
  app.add_option("--kernel", request_.kernel, "The guest's kernel: any file of it that is bootable")
      ->type_name("FILE");
  app.add_option("--symbols", request_.symbols,
                 "The kernel's symbols, if its file has none or too few: System.map, nm's output "
                 "or /proc/kallsyms")
      ->type_name("FILE");
  app.add_option("--load-bias", request_.load_bias,
                 "Where the kernel ran minus where it is linked (default: found out for tcg, 0 for "
                 "maestro)")
      ->type_name("HEX");
  app.add_option("--os", request_.os, "The guest's operating system (tcg)")
      ->type_name("NAME")
      ->one_of({"auto", "linux", "none"})
      ->capture_default_str();
  app.add_flag("--keep-captures", request_.keep_captures,
               "Also store what each stack was unwound from, for 'ringside case extract' (tcg)");
  app.add_flag("--maestro-cut", request_.maestro_cut,
               "Count as Maestro's own tool does: a stack is cut at each unknown frame, and each "
               "piece is a sample");
}

Result<void> ImportVerb::run(const std::vector<std::string>&) {
  request_.input = input_;
  request_.output = output_;
  if (format_ != "maestro" && request_.maestro_cut)
    return fail(ErrorCode::kUsage, "--maestro-cut goes with --format maestro");
  RINGSIDE_TRY(format_ == "tcg" ? app::import_plugin_file(request_)
                                : app::import_maestro(request_));
  app::say(fmt::format(
      "ringside: the recording is in {0}; look at it with 'ringside report -i {0}'", output_));
  return {};
}

}  // namespace ringside::cli
