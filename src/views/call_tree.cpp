#include "views/call_tree.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "profile/sanitize.h"

namespace ringside::views {
namespace {

using profile::FrameId;
using profile::Profile;
using profile::StringId;

// The tree as it grows: a node finds its child by name and kind.
class Growing {
 public:
  using Index = std::uint32_t;

  explicit Growing(const Profile& profile) : profile_(profile) {
    tree_.nodes.emplace_back().name = "all";
    // Frames that only differ in image or inlining are the same here.
    std::map<std::pair<StringId, profile::Kind>, std::uint32_t> known;
    for (const profile::Frame& frame : profile.frames) {
      const auto key = std::pair(profile.functions[frame.function].name, frame.kind);
      merged_.push_back(
          known.try_emplace(key, static_cast<std::uint32_t>(known.size())).first->second);
    }
  }

  Index child(Index parent, FrameId frame) {
    const auto [it, added] =
        children_.try_emplace(std::uint64_t{parent} << 32 | merged_[frame], size());
    const profile::Frame& what = profile_.frames[frame];
    const profile::Function* const function = &profile_.functions[what.function];
    if (added) {
      append(parent, profile_.name(frame), what.kind);
      tree_.nodes.back().inlined = true;
      tree_.nodes.back().function = function;
    }
    CallTree::Node& node = tree_.nodes[it->second];
    node.inlined &= what.inlined;
    node.several_functions |= node.function != function;
    return it->second;
  }

  // A child that is no code.
  Index special_child(Index parent, const std::string& name) {
    const auto [it, added] = specials_.try_emplace(std::pair(parent, name), size());
    if (added) append(parent, tree_.own_names.emplace_back(name), std::nullopt);
    return it->second;
  }

  void add_self(Index node, std::uint64_t weight) { tree_.nodes[node].self += weight; }

  CallTree finish() && {
    std::vector<CallTree::Node>& nodes = tree_.nodes;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      nodes[i].total += nodes[i].self;
      if (i > 0) nodes[nodes[i].parent].total += nodes[i].total;
    }
    return std::move(tree_);
  }

 private:
  [[nodiscard]] Index size() const { return static_cast<Index>(tree_.nodes.size()); }

  void append(Index parent, std::string_view name, std::optional<profile::Kind> kind) {
    CallTree::Node node;
    node.name = name;
    node.kind = kind;
    node.parent = parent;
    node.depth = tree_.nodes[parent].depth + 1;
    tree_.nodes[parent].children.push_back(size());
    tree_.nodes.push_back(std::move(node));
  }

  const Profile& profile_;
  CallTree tree_;
  std::vector<std::uint32_t> merged_;  // by FrameId
  std::unordered_map<std::uint64_t, Index> children_;
  std::map<std::pair<Index, std::string>, Index> specials_;
};

// Copies what is wide enough into a tree in preorder, with children by name.
CallTree cut(CallTree full, double minimum) {
  CallTree out;
  out.own_names = std::move(full.own_names);
  struct Step {
    std::uint32_t from;
    std::uint32_t parent;
  };
  std::vector<Step> todo{{0, 0}};
  while (!todo.empty()) {
    const Step step = todo.back();
    todo.pop_back();
    CallTree::Node& node = full.nodes[step.from];
    const auto index = static_cast<std::uint32_t>(out.nodes.size());
    std::vector<std::uint32_t> children = std::move(node.children);
    node.children.clear();
    node.parent = step.parent;
    std::sort(children.begin(), children.end(), [&](std::uint32_t a, std::uint32_t b) {
      const CallTree::Node& x = full.nodes[a];
      const CallTree::Node& y = full.nodes[b];
      return std::pair(x.name, x.kind) > std::pair(y.name, y.kind);  // the last is taken first
    });
    for (const std::uint32_t child : children) {
      if (static_cast<double>(full.nodes[child].total) < minimum)
        node.hidden += full.nodes[child].total;
      else
        todo.push_back({child, index});
    }
    out.hidden += node.hidden;
    out.depth = std::max(out.depth, node.depth);
    if (index > 0) out.nodes[step.parent].children.push_back(index);
    out.nodes.push_back(std::move(node));
  }
  return out;
}

}  // namespace

CallTree make_call_tree(const Profile& profile, const CallTreeOptions& options) {
  Growing growing(profile);
  for (const profile::SampleGroup& group : profile.samples) {
    const bool idle = group.disposition == wire::Disposition::kIdle && options.show_idle;
    if (!idle && group.disposition != wire::Disposition::kSampled) continue;
    Growing::Index node = 0;
    if (options.per_vcpu)
      node = growing.special_child(node, fmt::format("vcpu {}", group.vcpu.value));
    if (idle) {
      node = growing.special_child(node, std::string(profile::kIdleName));
    } else {
      if (const std::string owner = owner_name(profile, group, options.by); !owner.empty())
        node = growing.special_child(node, owner);
      std::vector<FrameId> frames = profile.stacks.frames_of(group.stack);
      if (options.reverse) std::reverse(frames.begin(), frames.end());
      for (const FrameId frame : frames) node = growing.child(node, frame);
    }
    growing.add_self(node, group.weight);
  }
  CallTree full = std::move(growing).finish();
  const double minimum = options.minimum_share * static_cast<double>(full.root().total);
  return cut(std::move(full), minimum);
}

}  // namespace ringside::views
