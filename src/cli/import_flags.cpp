#include "cli/import_flags.h"

#include <fmt/core.h>

#include "app/input_format.h"
#include "cli/options.h"

namespace ringside::cli {

void add_input_format_flag(App& app, std::string& format, FormatHelp help) {
  std::vector<std::string> names = {app::kAutoFormat};
  std::string text = "The kind of input. auto: as the contents show";
  for (const auto& [name, summary] : app::input_formats()) {
    names.push_back(name);
    text += fmt::format("; {}: {}", name, summary);
  }
  if (help == FormatHelp::kRefers)
    text =
        "The kind of input; auto is as its contents show. 'ringside import --help' describes each";
  app.add_option("--input-format", format, text)
      ->type_name("NAME")
      ->one_of(names)
      ->capture_default_str();
}

void add_import_flags(App& app, app::ImportSettings& settings) {
  app.add_option("--cpu-freq", settings.cpu_frequency,
                 "The rate of the time stamp counter that a Redox ring has times of")
      ->type_name("GHZ");
  app.add_option("--context-names", settings.context_names,
                 "Names of the contexts in a Redox ring: lines of an id, a space and a name")
      ->type_name("FILE");
  app.add_flag("--maestro-cut", settings.maestro_cut,
               "Count as Maestro's own tool does: a stack is cut at each unknown frame, and each "
               "piece is a sample");
}

}  // namespace ringside::cli
