#include "exporters/flamegraph/flame_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>

#include "base/text_width.h"
#include "exporters/flamegraph/flamegraph_assets.h"
#include "exporters/flamegraph/frame_label.h"
#include "exporters/flamegraph/xml.h"
#include "exporters/units.h"

namespace ringside::exporters {
namespace {

using views::CallTree;

using L = FlamegraphLayout;

// Writes one picture.
class PictureWriter {
 public:
  PictureWriter(const FlamePicture& picture, Sink& sink)
      : picture_(picture),
        tree_(picture.tree),
        sink_(sink),
        width_(std::max(picture.width, L::kNarrowestPicture)),
        height_(L::kFramesTop + L::kFootHeight + (tree_.depth + 1) * L::kFrameHeight),
        empty_(tree_.root().extent == 0) {
    scale_ = empty_ ? 0 : (width_ - 2.0 * L::kMargin) / static_cast<double>(tree_.root().extent);
  }

  Result<void> write() {
    RINGSIDE_TRY(write_head());
    RINGSIDE_TRY(write_legend());
    RINGSIDE_TRY(empty_ ? write_nothing() : write_frames());
    RINGSIDE_TRY(write_foot());
    return sink_.write(fmt::format("<script><![CDATA[\n{}{}]]></script>\n</svg>\n",
                                   kFlamegraphLabelJs, kFlamegraphJs));
  }

 private:
  Result<void> write_head() {
    RINGSIDE_TRY(sink_.write(fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>
<svg id="ringside" xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" {2}>
<title>{3}</title>
<style><![CDATA[
{4}]]></style>
<rect id="page" width="100%" height="100%"/>
<g id="head">
<rect id="head-page" x="-{5}" width="120%" height="{6}"/>
<text id="title" x="{7}" y="{8}">{3}</text>
<text id="subtitle" x="{7}" y="{9}">{10}</text>
)",
        width_, height_, data_attributes(width_, picture_.icicle), xml_escape(picture_.title),
        style(), L::kHeadOverhang, L::kFramesTop - L::kFrameGap, L::kMargin, L::kTitle,
        L::kSubtitle, xml_escape(picture_.subtitle))));
    const unsigned search = L::kMargin + L::kSearchWidth;
    const unsigned reset = search + L::kButtonGap + L::kResetWidth;
    return sink_.write(
        button("reset", "Reset zoom", L::kResetWidth, reset) +
        button("search", "Search", L::kSearchWidth, search) + search_box() +
        fmt::format("<text id=\"details\" x=\"{}\" y=\"{}\"> </text>\n", L::kMargin, L::kDetails) +
        right("<text id=\"matched\"> </text>", L::kMargin, L::kDetails));
  }

  [[nodiscard]] std::string style() const {
    return std::string(kFlamegraphCss) + themed(picture_.theme, [this](bool dark_page) {
             return picture_.style.rules(dark_page) + page_rules(dark_page);
           });
  }

  // Something that keeps its distance from the right edge when the window's width changes.
  [[nodiscard]] std::string right(std::string_view what, unsigned distance, unsigned top) const {
    return fmt::format(
        "<g data-right=\"{0}\" data-top=\"{1}\" transform=\"translate({2},{1})\">{3}</g>\n",
        distance, top, width_ - distance, what);
  }

  [[nodiscard]] std::string button(std::string_view id, std::string_view text, unsigned width,
                                   unsigned distance) const {
    return right(
        fmt::format("<g class=\"scripted\"><g id=\"{}\" class=\"button\" role=\"button\" "
                    "tabindex=\"0\"><rect width=\"{}\" height=\"{}\" rx=\"{}\"/>"
                    "<text x=\"{}\" y=\"{}\">{}</text></g></g>",
                    id, width, L::kButtonHeight, L::kButtonRadius, width / 2, L::kButtonText, text),
        distance, L::kButtonTop);
  }

  [[nodiscard]] std::string search_box() const {
    return right(
        fmt::format(
            "<g class=\"scripted\"><foreignObject id=\"search-box\" width=\"{}\" height=\"{}\">"
            "<div xmlns=\"http://www.w3.org/1999/xhtml\"><input id=\"search-input\" type=\"text\" "
            "placeholder=\"regular expression\" aria-label=\"Search\" spellcheck=\"false\" "
            "autocomplete=\"off\"/></div></foreignObject></g>",
            L::kSearchBoxWidth, L::kSearchBoxHeight),
        L::kMargin + L::kSearchBoxWidth, L::kSearchTop);
  }

  Result<void> write_legend() {
    unsigned x = L::kMargin;
    std::string text = "<g class=\"legend\">";
    for (const FrameStyle::Entry& entry : picture_.style.legend()) {
      const std::string word = cut_middle(entry.text, L::kLongestLegend);
      text += fmt::format(
          "<g class=\"{0}\"><title>{8}</title><rect x=\"{1}\" y=\"{2}\" width=\"{3}\" "
          "height=\"{3}\" "
          "rx=\"{4}\"/><text x=\"{5}\" y=\"{6}\">{7}</text></g>",
          entry.css_class, x, L::kLegendTop, L::kSwatch, L::kSwatchRadius, x + L::kSwatchToText,
          L::kLegend, xml_escape(word), xml_escape(entry.text));
      x += L::kSwatchToText + L::kLegendGap +
           L::kLegendCharacter * static_cast<unsigned>(cells_of(word));
    }
    return sink_.write(text + "</g>\n</g>\n");
  }

  Result<void> write_frames() {
    RINGSIDE_TRY(sink_.write("<g id=\"frames\">\n"));
    std::vector<std::uint64_t> left(tree_.nodes.size(), 0);
    for (std::uint32_t index = 0; index < tree_.nodes.size(); ++index) {
      std::uint64_t next = left[index];
      for (const std::uint32_t child : tree_.children(index)) {
        left[child] = next;
        next += tree_.nodes[child].extent;
      }
      RINGSIDE_TRY(write_frame(index, left[index]));
    }
    return sink_.write("</g>\n");
  }

  Result<void> write_frame(std::uint32_t index, std::uint64_t left) {
    const CallTree::Node& node = tree_.nodes[index];
    const double x = L::kMargin + static_cast<double>(left) * scale_;
    const double width = static_cast<double>(node.extent) * scale_;
    const unsigned row = picture_.icicle ? node.depth : tree_.depth - node.depth;
    const unsigned y = L::kFramesTop + row * L::kFrameHeight;
    const auto room =
        static_cast<std::size_t>(std::max(width - 2.0 * L::kInset, 0.0) / L::kCharacterWidth);
    const std::string name = xml_escape(node.name);
    std::string text;
    if (room >= L::kShortestText)
      text = fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + L::kInset, y + L::kBaseline,
                         xml_escape(frame_label(node.name, room)));
    return sink_.write(fmt::format(
        "<g class=\"frame {}\" data-name=\"{}\" data-w=\"{}\" data-d=\"{}\"><title>{}</title>"
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>{}</g>\n",
        picture_.style.class_of(node), name, node.extent, node.depth, picture_.hint(node, name), x,
        y, width, L::kFrameHeight - L::kFrameGap, text));
  }

  Result<void> write_nothing() {
    return sink_.write(
        fmt::format("<text id=\"nothing\" x=\"{}\" y=\"{}\">No samples: nothing was running, "
                    "or the filters "
                    "left nothing over.</text>\n",
                    L::kMargin, L::kFramesTop + L::kNothingBaseline));
  }

  Result<void> write_foot() {
    std::string text = picture_.foot;
    if (tree_.hidden != 0)
      text += fmt::format("{}frames narrower than {} px are left out, {}% in all",
                          text.empty() ? "" : "; ", picture_.minimum_width,
                          format_percent(tree_.hidden, tree_.root().extent));
    return sink_.write(fmt::format("<text id=\"foot\" x=\"{}\" y=\"{}\">{}</text>\n", L::kMargin,
                                   height_ - L::kFoot, text));
  }

  const FlamePicture& picture_;
  const CallTree& tree_;
  Sink& sink_;
  unsigned width_;
  unsigned height_;
  bool empty_;
  double scale_ = 0;  // pixels for a unit of weight
};

}  // namespace

double minimum_share(double minimum_width, unsigned width) {
  return minimum_width / (std::max(width, L::kNarrowestPicture) - 2.0 * L::kMargin);
}

Result<void> write_picture(const FlamePicture& picture, Sink& sink) {
  return PictureWriter(picture, sink).write();
}

}  // namespace ringside::exporters
