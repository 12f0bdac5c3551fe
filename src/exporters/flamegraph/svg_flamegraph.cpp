#include "exporters/flamegraph/svg_flamegraph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "arch/arch_info.h"
#include "base/text_width.h"
#include "exporters/counts_in_words.h"
#include "exporters/flamegraph/flamegraph_assets.h"
#include "exporters/flamegraph/flamegraph_layout.h"
#include "exporters/flamegraph/frame_label.h"
#include "exporters/flamegraph/xml.h"
#include "exporters/lost_in_words.h"
#include "exporters/units.h"
#include "profile/sanitize.h"
#include "views/call_tree.h"

namespace ringside::exporters {
namespace {

using profile::Kind;
using profile::Profile;
using views::CallTree;

using L = FlamegraphLayout;

// "kernel code in vmlinux, fair.c:6512-6540": the lines of it that were seen.
std::string origin_of(const CallTree::Node& node, const Profile& profile) {
  std::string text = word_for(*node.kind) + std::string(" code");
  if (node.function == nullptr) return text;
  if (node.several_functions) return text + " in several images";
  const profile::Function& function = *node.function;
  if (function.image != 0) text += fmt::format(" in {}", profile.strings[function.image]);
  if (function.first_line == 0) return text;
  std::string_view file = profile.strings[function.file];
  file.remove_prefix(file.rfind('/') + 1);
  text += fmt::format(", {}:{}", file, function.first_line);
  if (function.last_line != function.first_line) text += fmt::format("-{}", function.last_line);
  return text;
}

std::string subtitle_of(const Profile& profile) {
  const recording::Header& header = profile.header;
  std::string text;
  const auto add = [&](const std::string& part) {
    if (part.empty()) return;
    text += (text.empty() ? "" : " \xc2\xb7 ") + part;
  };
  add(header.kernel.empty() ? "" : profile::sanitize(header.kernel));
  if (header.arch != Arch::kUnknown) add(arch::name_of(header.arch));
  if (header.vcpu_count != 0)
    add(fmt::format("{} vCPU{}", header.vcpu_count, header.vcpu_count == 1 ? "" : "s"));
  const profile::Weight sampled = profile.weight_of(wire::Disposition::kSampled);
  const profile::Weight idle = profile.weight_of(wire::Disposition::kIdle);
  add(sampled_in_words(profile));
  if (idle != 0) add(fmt::format("{}% idle", format_percent(idle, sampled + idle)));
  if (header.interval_ns != 0) add("every " + format_duration(header.interval_ns));
  add(lost_in_short(profile));
  return text;
}

// One picture: what is known before the first frame is written.
class Picture {
 public:
  Picture(const Profile& profile, const FlamegraphOptions& options, Sink& sink)
      : profile_(profile),
        options_(options),
        sink_(sink),
        tree_(make_tree()),
        colors_(profile, tree_, options.colors) {
    width_ = std::max(options.width, L::kNarrowestPicture);
    empty_ = tree_.root().extent == 0;
    height_ = L::kFramesTop + L::kFootHeight + (tree_.depth + 1) * L::kFrameHeight;
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
  [[nodiscard]] CallTree make_tree() const {
    views::CallTreeOptions options;
    options.reverse = options_.reverse;
    options.per_vcpu = options_.per_vcpu;
    options.by = options_.by;
    options.show_idle = options_.show_idle;
    options.minimum_share = options_.minimum_width /
                            (std::max(options_.width, L::kNarrowestPicture) - 2.0 * L::kMargin);
    return views::make_call_tree(profile_, options);
  }

  Result<void> write_head() {
    const std::string title =
        options_.title.empty() ? "Flame graph" : profile::sanitize(options_.title);
    const std::string subtitle =
        options_.subtitle.empty() ? subtitle_of(profile_) : profile::sanitize(options_.subtitle);
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
        width_, height_, data_attributes(width_, options_.icicle), xml_escape(title), style(),
        L::kHeadOverhang, L::kFramesTop - L::kFrameGap, L::kMargin, L::kTitle, L::kSubtitle,
        xml_escape(subtitle))));
    const unsigned search = L::kMargin + L::kSearchWidth;
    const unsigned reset = search + L::kButtonGap + L::kResetWidth;
    return sink_.write(
        button("reset", "Reset zoom", L::kResetWidth, reset) +
        button("search", "Search", L::kSearchWidth, search) + search_box() +
        fmt::format("<text id=\"details\" x=\"{}\" y=\"{}\"> </text>\n", L::kMargin, L::kDetails) +
        right("<text id=\"matched\"> </text>", L::kMargin, L::kDetails));
  }

  [[nodiscard]] std::string style() const {
    return std::string(kFlamegraphCss) + themed(options_.theme, [this](bool dark_page) {
             return colors_.rules(dark_page) + page_rules(dark_page);
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
    for (const FrameColors::Entry& entry : colors_.legend()) {
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
    const unsigned row = options_.icicle ? node.depth : tree_.depth - node.depth;
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
        colors_.class_of(node), name, node.extent, node.depth, hint_of(node, name), x, y, width,
        L::kFrameHeight - L::kFrameGap, text));
  }

  // The text of the frame's tooltip, escaped as its name is.
  [[nodiscard]] std::string hint_of(const CallTree::Node& node, const std::string& name) {
    const auto amount = [&](profile::Weight weight) {
      return fmt::format("{} {}, {}%", format_weight(weight), name_of(profile_.unit),
                         format_share(weight, tree_.root().extent));
    };
    const std::string total = amount(node.total);
    std::string hint = fmt::format("{}{} ({})\nself {}", name, node.inlined ? " (inlined)" : "",
                                   total, node.self == node.total ? total : amount(node.self));
    if (node.kind && node.kind != Kind::kCode) hint += origin_line_of(node);
    return hint;
  }

  // Few functions stand in many frames.
  [[nodiscard]] const std::string& origin_line_of(const CallTree::Node& node) {
    const auto key = std::tuple(node.function, *node.kind, node.several_functions);
    const auto [it, added] = origins_.try_emplace(key);
    if (added) it->second = "\n" + xml_escape(origin_of(node, profile_));
    return it->second;
  }

  Result<void> write_nothing() {
    return sink_.write(
        fmt::format("<text id=\"nothing\" x=\"{}\" y=\"{}\">No samples: nothing was running, "
                    "or the filters "
                    "left nothing over.</text>\n",
                    L::kMargin, L::kFramesTop + L::kNothingBaseline));
  }

  Result<void> write_foot() {
    std::string text = options_.reverse ? "reversed: callers stand on what they call" : "";
    if (tree_.hidden != 0)
      text += fmt::format("{}frames narrower than {} px are left out, {}% in all",
                          text.empty() ? "" : "; ", options_.minimum_width,
                          format_percent(tree_.hidden, tree_.root().extent));
    return sink_.write(fmt::format("<text id=\"foot\" x=\"{}\" y=\"{}\">{}</text>\n", L::kMargin,
                                   height_ - L::kFoot, text));
  }

  const Profile& profile_;
  const FlamegraphOptions& options_;
  Sink& sink_;
  CallTree tree_;
  FrameColors colors_;
  unsigned width_ = 0;
  unsigned height_ = 0;
  bool empty_ = false;
  std::map<std::tuple<const profile::Function*, profile::Kind, bool>, std::string> origins_;
  double scale_ = 0;  // pixels for a unit of weight
};

}  // namespace

Result<void> write_flamegraph(const Profile& profile, const FlamegraphOptions& options,
                              Sink& sink) {
  return Picture(profile, options, sink).write();
}

}  // namespace ringside::exporters
