#include "exporters/svg_flamegraph.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <vector>

#include "arch/arch_info.h"
#include "exporters/counts_in_words.h"
#include "exporters/flamegraph_assets.h"
#include "exporters/frame_label.h"
#include "exporters/lost_in_words.h"
#include "exporters/units.h"
#include "exporters/xml.h"
#include "profile/spelling.h"
#include "views/call_tree.h"

namespace ringside::exporters {
namespace {

using profile::Kind;
using profile::Profile;
using views::CallTree;

// Pixels. flamegraph.js gets what it needs of them as data- attributes of the root.
constexpr unsigned kMargin = 16;
constexpr unsigned kFrameHeight = 19;
constexpr unsigned kFrameGap = 1;
constexpr unsigned kTop = 112;  // of the frames
constexpr unsigned kBottom = 34;
constexpr unsigned kInset = 3;            // of a frame's text, at both sides
constexpr unsigned kBaseline = 13;        // of a frame's text
constexpr double kCharacterWidth = 6.95;  // of the monospace fonts at 11.5 px
constexpr std::size_t kShortestText = 3;  // characters

constexpr std::size_t kShades = 5;

struct Family {
  char letter;  // of the class in flamegraph.css
  const char* legend;
};
constexpr std::array<Family, profile::kKindCount> kFamilies = {{{'k', "kernel"},
                                                                {'u', "user"},
                                                                {'i', "interrupt"},
                                                                {'f', "firmware"},
                                                                {'g', "guest"},
                                                                {'x', "unknown"}}};

std::size_t shade_of(std::string_view name) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return (hash >> 7) % kShades;
}

std::string class_of(const CallTree::Node& node) {
  if (!node.kind) return "n0";
  return fmt::format("{}{}", kFamilies[static_cast<std::size_t>(*node.kind)].letter,
                     shade_of(node.name));
}

// "kernel code in vmlinux, fair.c:6512-6540": the lines of it that were seen.
std::string origin_of(const CallTree::Node& node, const Profile& profile) {
  std::string text = kFamilies[static_cast<std::size_t>(*node.kind)].legend + std::string(" code");
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
  add(header.kernel.empty() ? "" : profile::spell(header.kernel));
  if (header.arch != Arch::kUnknown) add(arch::name_of(header.arch));
  if (header.vcpu_count != 0)
    add(fmt::format("{} vCPU{}", header.vcpu_count, header.vcpu_count == 1 ? "" : "s"));
  const std::uint64_t sampled = profile.weight_of(wire::Disposition::kSampled);
  const std::uint64_t idle = profile.weight_of(wire::Disposition::kIdle);
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
      : profile_(profile), options_(options), sink_(sink), tree_(make_tree()) {
    width_ = std::max(options.width, 320u);
    empty_ = tree_.root().total == 0;
    height_ = kTop + kBottom + (tree_.depth + 1) * kFrameHeight;
    scale_ = empty_ ? 0 : (width_ - 2.0 * kMargin) / static_cast<double>(tree_.root().total);
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
    options.minimum_share =
        options_.minimum_width / (std::max(options_.width, 320u) - 2.0 * kMargin);
    return views::make_call_tree(profile_, options);
  }

  Result<void> write_head() {
    const std::string title =
        options_.title.empty() ? "Flame graph" : profile::spell(options_.title);
    const std::string subtitle =
        options_.subtitle.empty() ? subtitle_of(profile_) : profile::spell(options_.subtitle);
    RINGSIDE_TRY(sink_.write(fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>
<svg id="ringside" xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" data-width="{0}" data-margin="{2}" data-inset="{6}" data-baseline="{7}" data-character="{8}" data-shortest="{9}" data-roots="{10}">
<title>{3}</title>
<style><![CDATA[
{4}]]></style>
<rect id="page" width="100%" height="100%"/>
<g id="head">
<rect id="head-page" x="-8" width="120%" height="{11}"/>
<text id="title" x="{2}" y="32">{3}</text>
<text id="subtitle" x="{2}" y="53">{5}</text>
)",
        width_, height_, kMargin, xml_escape(title), kFlamegraphCss, xml_escape(subtitle), kInset,
        kBaseline, kCharacterWidth, kShortestText, options_.icicle ? "top" : "bottom",
        kTop - kFrameGap)));
    return sink_.write(button("reset", "Reset zoom", 88, kMargin + 88 + 8 + 68) +
                       button("search", "Search", 68, kMargin + 68) + search_box() +
                       fmt::format("<text id=\"details\" x=\"{}\" y=\"102\"> </text>\n", kMargin) +
                       right("<text id=\"matched\"> </text>", kMargin, 102));
  }

  // Something that keeps its distance from the right edge when the window's width changes.
  [[nodiscard]] std::string right(std::string_view what, unsigned distance, unsigned top) const {
    return fmt::format(
        "<g data-right=\"{0}\" data-top=\"{1}\" transform=\"translate({2},{1})\">{3}</g>\n",
        distance, top, width_ - distance, what);
  }

  [[nodiscard]] std::string button(std::string_view id, std::string_view text, unsigned width,
                                   unsigned distance) const {
    return right(fmt::format("<g class=\"scripted\"><g id=\"{}\" class=\"button\" role=\"button\" "
                             "tabindex=\"0\"><rect width=\"{}\" height=\"24\" rx=\"6\"/>"
                             "<text x=\"{}\" y=\"16\">{}</text></g></g>",
                             id, width, width / 2, text),
                 distance, 16);
  }

  [[nodiscard]] std::string search_box() const {
    return right(
        "<g class=\"scripted\"><foreignObject id=\"search-box\" width=\"232\" height=\"26\">"
        "<div xmlns=\"http://www.w3.org/1999/xhtml\"><input id=\"search-input\" type=\"text\" "
        "placeholder=\"regular expression\" aria-label=\"Search\" spellcheck=\"false\" "
        "autocomplete=\"off\"/></div></foreignObject></g>",
        kMargin + 232, 48);
  }

  Result<void> write_legend() {
    std::array<bool, profile::kKindCount> present{};
    for (const CallTree::Node& node : tree_.nodes)
      if (node.kind) present[static_cast<std::size_t>(*node.kind)] = true;
    unsigned x = kMargin;
    std::string text = "<g class=\"legend\">";
    for (std::size_t kind = 0; kind < kFamilies.size(); ++kind) {
      if (!present[kind]) continue;
      text += fmt::format(
          "<g class=\"{}0\"><rect x=\"{}\" y=\"66\" width=\"12\" height=\"12\" rx=\"3\"/>"
          "<text x=\"{}\" y=\"76\">{}</text></g>",
          kFamilies[kind].letter, x, x + 17, kFamilies[kind].legend);
      x += 17 + 18 + static_cast<unsigned>(7 * std::string_view(kFamilies[kind].legend).size());
    }
    return sink_.write(text + "</g>\n</g>\n");
  }

  Result<void> write_frames() {
    RINGSIDE_TRY(sink_.write("<g id=\"frames\">\n"));
    std::vector<std::uint64_t> left(tree_.nodes.size(), 0);
    for (std::uint32_t index = 0; index < tree_.nodes.size(); ++index) {
      std::uint64_t next = left[index];
      for (const std::uint32_t child : tree_.nodes[index].children) {
        left[child] = next;
        next += tree_.nodes[child].total;
      }
      RINGSIDE_TRY(write_frame(index, left[index]));
    }
    return sink_.write("</g>\n");
  }

  Result<void> write_frame(std::uint32_t index, std::uint64_t left) {
    const CallTree::Node& node = tree_.nodes[index];
    const double x = kMargin + static_cast<double>(left) * scale_;
    const double width = static_cast<double>(node.total) * scale_;
    const unsigned row = options_.icicle ? node.depth : tree_.depth - node.depth;
    const unsigned y = kTop + row * kFrameHeight;
    const auto room =
        static_cast<std::size_t>(std::max(width - 2.0 * kInset, 0.0) / kCharacterWidth);
    const std::string name = xml_escape(node.name);
    std::string text;
    if (room >= kShortestText)
      text = fmt::format("<text x=\"{:.2f}\" y=\"{}\">{}</text>", x + kInset, y + kBaseline,
                         xml_escape(frame_label(node.name, room)));
    return sink_.write(fmt::format(
        "<g class=\"frame {}\" data-name=\"{}\" data-w=\"{}\" data-d=\"{}\"><title>{}</title>"
        "<rect x=\"{:.2f}\" y=\"{}\" width=\"{:.2f}\" height=\"{}\"/>{}</g>\n",
        class_of(node), name, node.total, node.depth, hint_of(node, name), x, y, width,
        kFrameHeight - kFrameGap, text));
  }

  // What stands in the frame's tooltip, escaped as its name is.
  [[nodiscard]] std::string hint_of(const CallTree::Node& node, const std::string& name) {
    const auto amount = [&](std::uint64_t weight) {
      return fmt::format("{} {}, {}%", format_count(weight), name_of(profile_.unit),
                         format_percent(weight, tree_.root().total));
    };
    const std::string total = amount(node.total);
    std::string hint = fmt::format("{}{} ({})\nself {}", name, node.inlined ? " (inlined)" : "",
                                   total, node.self == node.total ? total : amount(node.self));
    if (node.kind) hint += origin_line_of(node);
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
                    kMargin, kTop + 14));
  }

  Result<void> write_foot() {
    std::string text = options_.reverse ? "reversed: callers stand on what they call" : "";
    if (tree_.hidden != 0)
      text += fmt::format("{}frames narrower than {} px are left out, {}% in all",
                          text.empty() ? "" : "; ", options_.minimum_width,
                          format_percent(tree_.hidden, tree_.root().total));
    return sink_.write(fmt::format("<text id=\"foot\" x=\"{}\" y=\"{}\">{}</text>\n", kMargin,
                                   height_ - 12, text));
  }

  const Profile& profile_;
  const FlamegraphOptions& options_;
  Sink& sink_;
  CallTree tree_;
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
