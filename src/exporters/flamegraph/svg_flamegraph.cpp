#include "exporters/flamegraph/svg_flamegraph.h"

#include <map>
#include <tuple>
#include <utility>

#include "arch/arch_info.h"
#include "exporters/counts_in_words.h"
#include "exporters/flamegraph/flame_picture.h"
#include "exporters/lost_in_words.h"
#include "exporters/units.h"
#include "profile/sanitize.h"
#include "views/call_tree.h"

namespace ringside::exporters {
namespace {

using profile::Kind;
using profile::Profile;
using views::CallTree;

constexpr const char* kDot = " \xc2\xb7 ";  // between the parts of a line

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

profile::Weight seen_in(const Profile& profile) {
  using wire::Disposition;
  profile::Weight seen = 0;
  for (const Disposition one :
       {Disposition::kSampled, Disposition::kIdle, Disposition::kSkipped, Disposition::kFailed})
    seen += profile.weight_of(one);
  return seen;
}

std::string subtitle_of(const Profile& profile) {
  const recording::Header& header = profile.header;
  Subtitle subtitle(header);
  if (header.vcpu_count != 0)
    subtitle.add(fmt::format("{} vCPU{}", header.vcpu_count, header.vcpu_count == 1 ? "" : "s"));
  if (header.start_wall_ns != 0) subtitle.add(format_time(header.start_wall_ns));
  subtitle.add(sampled_in_words(profile));
  const profile::Weight idle = profile.weight_of(wire::Disposition::kIdle);
  if (idle != 0) subtitle.add(idle_in_words(profile, idle, seen_in(profile)));
  if (header.interval_ns != 0) subtitle.add("every " + format_duration(header.interval_ns));
  subtitle.add(bent_in_short(profile));
  subtitle.add(lost_in_short(profile));
  return subtitle.text();
}

// The tooltips of a profile's frames.
class Hints {
 public:
  Hints(const Profile& profile, const CallTree& tree, std::string unit)
      : profile_(profile), tree_(tree), unit_(std::move(unit)) {}

  [[nodiscard]] std::string hint_of(const CallTree::Node& node) {
    const auto amount = [&](profile::Weight weight) {
      return fmt::format("{} {}, {}%", format_weight(weight), unit_,
                         format_share(weight, tree_.root().extent));
    };
    const std::string total = amount(node.total);
    std::string hint =
        fmt::format("{}{} ({})\nself {}", node.name, node.inlined ? " (inlined)" : "", total,
                    node.self == node.total ? total : amount(node.self));
    if (node.kind && node.kind != Kind::kCode) hint += origin_line_of(node);
    return hint;
  }

 private:
  // Few functions stand in many frames.
  [[nodiscard]] const std::string& origin_line_of(const CallTree::Node& node) {
    const auto key = std::tuple(node.function, *node.kind, node.several_functions);
    const auto [it, added] = origins_.try_emplace(key);
    if (added) it->second = "\n" + origin_of(node, profile_);
    return it->second;
  }

  const Profile& profile_;
  const CallTree& tree_;
  std::string unit_;
  std::map<std::tuple<const profile::Function*, profile::Kind, bool>, std::string> origins_;
};

views::CallTreeOptions tree_options(const FlamegraphOptions& options) {
  views::CallTreeOptions tree;
  tree.reverse = options.reverse;
  tree.per_vcpu = options.per_vcpu;
  tree.by = options.by;
  tree.show_idle = options.show_idle;
  tree.minimum_share = minimum_share(options.minimum_width, options.width);
  return tree;
}

}  // namespace

Subtitle::Subtitle(const recording::Header& header) {
  if (!header.kernel.empty()) add(profile::sanitize(header.kernel));
  if (!header.kernel_release.empty() && header.kernel_release != header.kernel)
    add(profile::sanitize(header.kernel_release));
  if (header.arch != Arch::kUnknown) add(arch::name_of(header.arch));
}

void Subtitle::add(std::string_view part) {
  if (part.empty()) return;
  if (!text_.empty()) text_ += kDot;
  text_ += part;
}

std::string title_of(std::string_view what, const recording::Header& header) {
  std::string title(what);
  const std::string& kernel = header.kernel_release.empty() ? header.kernel : header.kernel_release;
  if (!kernel.empty()) title += kDot + profile::sanitize(kernel);
  if (header.start_wall_ns != 0) title += kDot + format_date(header.start_wall_ns);
  return title;
}

Result<void> write_flamegraph(const Profile& profile, const FlamegraphOptions& options,
                              Sink& sink) {
  const CallTree tree = views::make_call_tree(profile, tree_options(options));
  const FrameColors colors(profile, tree, options.colors);
  Hints hints(profile, tree,
              options.unit.empty() ? std::string(name_of(profile.unit)) : options.unit);
  const FlamePicture picture{
      .tree = tree,
      .style = colors,
      .hint = [&](const CallTree::Node& node) { return hints.hint_of(node); },
      .title = options.title.empty() ? title_of("Flame graph", profile.header)
                                     : profile::sanitize(options.title),
      .subtitle =
          options.subtitle.empty() ? subtitle_of(profile) : profile::sanitize(options.subtitle),
      .foot = options.reverse ? "reversed: callers stand on what they call" : "",
      .width = options.width,
      .minimum_width = options.minimum_width,
      .icicle = options.icicle,
      .theme = options.theme};
  return write_picture(picture, sink);
}

}  // namespace ringside::exporters
