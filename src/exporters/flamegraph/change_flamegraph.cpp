#include "exporters/flamegraph/change_flamegraph.h"

#include <fmt/core.h>

#include "exporters/flamegraph/change_colors.h"
#include "exporters/flamegraph/flame_picture.h"
#include "profile/sanitize.h"
#include "views/comparison/build_names.h"
#include "views/comparison/call_tree_change.h"

namespace ringside::exporters {
namespace {

using views::CallTree;
using views::CallTreeChange;

std::string hint_of(const CallTreeChange& change, const CallTree::Node& node) {
  const std::string name(node.name);
  const auto index = static_cast<std::size_t>(&node - change.tree.nodes.data());
  if (index == 0) return name + " (100.00%)";
  const CallTreeChange::Shares& shares = change.shares[index];
  const bool is_before = index < change.tree.nodes[1].end;
  const char* const mark = shares.before == 0 ? ", new" : shares.after == 0 ? ", gone" : "";
  return fmt::format("{} ({:.2f}%)\nbefore {:.2f}%, after {:.2f}%, change {:+.2f}{}", name,
                     100 * (is_before ? shares.before : shares.after), 100 * shares.before,
                     100 * shares.after, 100 * shares.change(), mark);
}

}  // namespace

Result<void> write_change_flamegraph(profile::Profile& before, profile::Profile& after,
                                     const ChangePictureOptions& options, Sink& sink) {
  views::use_names_across_builds(before);
  views::use_names_across_builds(after);
  views::CallTreeChangeOptions trees;
  trees.reverse = options.reverse;
  trees.before_name = "before: " + profile::sanitize(options.before_name);
  trees.after_name = "after: " + profile::sanitize(options.after_name);
  trees.minimum_share = minimum_share(FlamegraphLayout::kNarrowestFrame, FlamePicture::kWidth);
  const CallTreeChange change = views::compare_call_trees(before, after, trees);
  const ChangeColors colors(change);
  const FlamePicture picture{
      .tree = change.tree,
      .style = colors,
      .hint = [&](const CallTree::Node& node) { return hint_of(change, node); },
      .title = "What changed",
      .subtitle = fmt::format("left: before, right: after; shares of all samples; the greatest "
                              "change is {:.2f} points",
                              100 * change.greatest),
      .foot = options.reverse ? "reversed: callers stand on what they call" : "",
      .icicle = options.icicle};
  return write_picture(picture, sink);
}

}  // namespace ringside::exporters
