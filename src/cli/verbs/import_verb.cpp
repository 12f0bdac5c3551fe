#include "cli/verbs/import_verb.h"

#include <fmt/format.h>

#include "app/messages.h"
#include "cli/import_flags.h"
#include "cli/options.h"

namespace ringside::cli {
void ImportVerb::add_options(App& app) {
  app.add_option("FILE", request_.inputs,
                 "The file to read, or several of one profile, such as a ring of each CPU; - is "
                 "standard input")
      ->required();
  app.add_option("-o,--output", output_, "The recording")->type_name("FILE")->capture_default_str();
  add_input_format_flag(app, request_.format, FormatHelp::kDescribes);
  app.add_option("--kernel", request_.kernel, "The guest's kernel: any file of it that is bootable")
      ->type_name("FILE");
  app.add_option("--symbols", request_.symbols,
                 "The kernel's symbols, if its file has none or too few, or there is no file: "
                 "System.map, nm's output or /proc/kallsyms")
      ->type_name("FILE");
  app.add_option("--load-bias", request_.load_bias,
                 "Where the kernel ran minus where it is linked (default: detected for tcg, else "
                 "0)")
      ->type_name("HEX");
  add_import_flags(app, request_.settings);
  app.add_option("--os", request_.os, "The guest's operating system (tcg)")
      ->type_name("NAME")
      ->one_of({"auto", "linux", "none"})
      ->capture_default_str();
  app.add_flag("--keep-captures", request_.keep_captures,
               "Also store what each stack was unwound from, for 'ringside case extract' (tcg)");
}

Result<void> ImportVerb::run(const std::vector<std::string>&) {
  request_.output = output_;
  RINGSIDE_TRY(app::import_files(request_));
  app::say(fmt::format(
      "ringside: the recording is in {0}; look at it with 'ringside report -i {0}'", output_));
  return {};
}

}  // namespace ringside::cli
