#include "cli/picture_flags.h"

#include <map>

#include "cli/options.h"

namespace ringside::cli {

void add_picture_flags(App& picture, exporters::FlamegraphOptions& options) {
  picture.add_option("--title", options.title, "Above the picture")->type_name("TEXT");
  picture.add_option("--subtitle", options.subtitle, "Below the title")->type_name("TEXT");
  picture
      .add_option("--width", options.width,
                  "Pixels where scripts are off; a browser fills its window")
      ->type_name("PIXELS")
      ->range(200u, 20000u)
      ->capture_default_str();
  picture
      .add_option("--min-width", options.minimum_width,
                  "Leave out frames narrower than so many pixels")
      ->type_name("PIXELS")
      ->range(0.0, 100.0)
      ->capture_default_str();
  picture.add_flag("--icicle", options.icicle, "Roots at the top");
  picture.add_flag("--reverse", options.reverse, "Leaves first: who calls what is hot");
}

void add_coloring_flags(App& picture, exporters::FlamegraphOptions& options,
                        const std::string& usual) {
  using exporters::FrameColoring;
  using exporters::Theme;
  static const std::map<std::string, FrameColoring> kColorings = {
      {"auto", FrameColoring::kAuto},
      {"kind", FrameColoring::kKind},
      {"memory", FrameColoring::kMemory},
      {"module", FrameColoring::kModule}};
  static const std::map<std::string, Theme> kThemes = {
      {"auto", Theme::kAuto}, {"light", Theme::kLight}, {"dark", Theme::kDark}};
  picture
      .add_option_function(
          "--colors", [&options](const std::string& name) { options.colors = kColorings.at(name); },
          "What colours show: kind, kernel code and user code and so on; memory, the same with "
          "the kernel in green; module, the image; auto, memory where bytes are added up, else "
          "kind")
      ->type_name("NAME")
      ->one_of({"auto", "kind", "memory", "module"})
      ->default_str(usual);
  picture
      .add_option_function(
          "--theme", [&options](const std::string& name) { options.theme = kThemes.at(name); },
          "The page: light, dark, or auto, as the viewer prefers")
      ->type_name("NAME")
      ->one_of({"auto", "light", "dark"})
      ->default_str("auto");
}

}  // namespace ringside::cli
