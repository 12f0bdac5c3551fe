#include "exporters/flamegraph/flame_picture.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/text_width.h"
#include "exporters/flamegraph/flamegraph_assets.h"
#include "exporters/flamegraph/frame_label.h"
#include "exporters/flamegraph/narrow_frames.h"
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
    return sink_.write(fmt::format("<script><![CDATA[\n{}]]></script>\n</svg>\n", kFlamegraphJs));
  }

 private:
  Result<void> write_head() {
    RINGSIDE_TRY(sink_.write(fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>
<svg id="ringside" xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="graphics-document document" {2}>
<title>{3}</title>
<style><![CDATA[
{4}]]></style>
<rect id="page" width="100%" height="100%"/>
<g id="head">
<rect id="head-page" x="-{5}" width="120%" height="{6}"/>
<text id="title" x="{7}" y="{8}">{3}</text>
<text id="subtitle" x="{7}" y="{9}">{10}</text>
)",
        width_, height_, data_attributes(width_, tree_.depth, picture_.icicle),
        xml_escape(picture_.title), style(), L::kHeadOverhang, L::kFramesTop - L::kFrameGap,
        L::kMargin, L::kTitle, L::kSubtitle, xml_escape(picture_.subtitle))));
    const unsigned search = L::kMargin + L::kSearchWidth;
    const unsigned reset = search + L::kButtonGap + L::kResetWidth;
    const unsigned flip = reset + L::kButtonGap + L::kFlipWidth;
    return sink_.write(
        button("flip", picture_.icicle ? "Flame" : "Icicle", L::kFlipWidth, flip) +
        button("reset", "Reset zoom", L::kResetWidth, reset) +
        button("search", "Search", L::kSearchWidth, search) + search_box() +
        fmt::format("<text id=\"details\" x=\"{}\" y=\"{}\"> </text>\n", L::kMargin, L::kDetails) +
        right("<text id=\"matched\" role=\"status\"> </text>", L::kMargin, L::kDetails));
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
    std::string text = "<g class=\"legend\" role=\"list\" aria-label=\"Colours\">";
    for (const FrameStyle::Entry& entry : picture_.style.legend()) {
      const std::string word = cut_middle(entry.text, L::kLongestLegend);
      text += fmt::format(
          "<g class=\"{0}\" role=\"listitem\"><title>{8}</title><rect x=\"{1}\" y=\"{2}\" "
          "width=\"{3}\" height=\"{3}\" rx=\"{4}\"/><text x=\"{5}\" y=\"{6}\">{7}</text></g>",
          entry.css_class, x, L::kLegendTop, L::kSwatch, L::kSwatchRadius, x + L::kSwatchToText,
          L::kLegend, xml_escape(word), xml_escape(entry.text));
      x += L::kSwatchToText + L::kLegendGap +
           L::kLegendCharacter * static_cast<unsigned>(cells_of(word));
    }
    return sink_.write(text + "</g>\n</g>\n");
  }

  Result<void> write_frames() {
    RINGSIDE_TRY(sink_.write("<g id=\"frames\" role=\"tree\" aria-label=\"Call stacks\">\n"));
    std::vector<std::uint64_t> left(tree_.nodes.size(), 0);
    std::map<std::string, std::string> thin;  // outlines of a class
    for (std::uint32_t index = 0; index < tree_.nodes.size(); ++index) {
      std::uint64_t next = left[index];
      for (const std::uint32_t child : tree_.children(index)) {
        left[child] = next;
        next += tree_.nodes[child].extent;
      }
      const CallTree::Node& node = tree_.nodes[index];
      if (is_element(node))
        RINGSIDE_TRY(write_frame(node, left[index]));
      else if (width_of(node) >= L::kNarrowestShown)
        thin[picture_.style.class_of(node)] += outline_of(node, left[index]);
    }
    std::string paths = "</g>\n<g id=\"thin\" aria-hidden=\"true\">\n";
    for (const auto& [css_class, outlines] : thin)
      paths += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", css_class, outlines);
    RINGSIDE_TRY(sink_.write(paths + "</g>\n"));
    return write_narrow_frames(
        picture_, [this](const CallTree::Node& node) { return !is_element(node); }, sink_);
  }

  [[nodiscard]] double width_of(const CallTree::Node& node) const {
    return static_cast<double>(node.extent) * scale_;
  }
  [[nodiscard]] bool is_element(const CallTree::Node& node) const {
    return width_of(node) >= L::kNarrowestElement;
  }
  [[nodiscard]] double left_of(std::uint64_t weight) const {
    return L::kMargin + static_cast<double>(weight) * scale_;
  }
  [[nodiscard]] unsigned top_of(const CallTree::Node& node) const {
    const unsigned row = picture_.icicle ? node.depth : tree_.depth - node.depth;
    return L::kFramesTop + row * L::kFrameHeight;
  }

  // A part of a path. `left`: the weight at the frame's left.
  [[nodiscard]] std::string outline_of(const CallTree::Node& node, std::uint64_t left) const {
    return fmt::format("M{0:.2f} {1}h{2:.2f}v{3}h-{2:.2f}z", left_of(left), top_of(node),
                       width_of(node) - L::kThinGap, L::kFrameHeight - L::kFrameGap);
  }

  Result<void> write_frame(const CallTree::Node& node, std::uint64_t left) {
    const double x = left_of(left);
    const double width = width_of(node);
    const unsigned y = top_of(node);
    const auto room =
        static_cast<std::size_t>(std::max(width - 2.0 * L::kInset, 0.0) / L::kCharacterWidth);
    std::string text = frame_label(node.name, room);
    if (!text.empty())
      text = fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + L::kInset, y + L::kBaseline,
                         xml_escape(text));
    return sink_.write(
        fmt::format("<g class=\"frame {}\" data-name=\"{}\" data-w=\"{}\" data-d=\"{}\" "
                    "role=\"treeitem\" aria-level=\"{}\"><title>{}</title>"
                    "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>{}</g>\n",
                    picture_.style.class_of(node), xml_escape(node.name), node.extent, node.depth,
                    node.depth + 1, xml_escape_lines(picture_.hint(node)), x, y, width,
                    L::kFrameHeight - L::kFrameGap, text));
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
