#pragma once

#include <functional>
#include <string>
#include <vector>

#include "exporters/flamegraph/flamegraph_layout.h"
#include "exporters/flamegraph/flamegraph_theme.h"
#include "exporters/sink.h"
#include "views/call_tree.h"

namespace ringside::exporters {

// How the frames of a picture look.
class FrameStyle {
 public:
  virtual ~FrameStyle() = default;

  // Classes of the style sheet. The first one is a letter and a number, whatever the colouring: a
  // frame in a page's address has that letter.
  [[nodiscard]] virtual std::string class_of(const views::CallTree::Node& node) const = 0;

  struct Entry {
    std::string css_class;
    std::string text;  // whole; safe to show as the profile's names are
  };
  [[nodiscard]] virtual const std::vector<Entry>& legend() const = 0;

  // The style sheet of the colours that the tree has.
  [[nodiscard]] virtual std::string rules(bool dark_page) const = 0;
};

// A tree of calls as it is drawn. Texts are safe to show as the profile's names are.
struct FlamePicture {
  static constexpr unsigned kWidth = 1200;
  const views::CallTree& tree;
  const FrameStyle& style;
  // The lines of a frame's tooltip. They begin with its name, and the first line ends with a share
  // of the whole in brackets.
  std::function<std::string(const views::CallTree::Node& node)> hint;
  std::string title;
  std::string subtitle;
  std::string foot;
  unsigned width = kWidth;  // pixels of the picture without JavaScript
  // Pixels at that width; narrower frames have been left out.
  double minimum_width = FlamegraphLayout::kNarrowestFrame;
  bool icicle = false;  // roots at the top
  Theme theme = Theme::kAuto;
};

// The share of the whole that `minimum_width` pixels of `width` are.
[[nodiscard]] double minimum_share(double minimum_width, unsigned width);

// One self-contained SVG: zoom, search, keyboard, tooltips, and an address that keeps the view; a
// static picture where scripts are off. Frames below a pixel are in it as numbers, which the script
// makes frames of. An empty tree gives a picture that says so.
[[nodiscard]] Result<void> write_picture(const FlamePicture& picture, Sink& sink);

}  // namespace ringside::exporters
