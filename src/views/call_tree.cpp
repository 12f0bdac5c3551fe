#include "views/call_tree.h"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "profile/sanitize.h"
#include "views/stack_slices.h"

namespace ringside::views {
namespace {

using profile::FrameId;
using profile::Profile;

// A frame's name and kind as one number, in the order of names: frames that only differ in image or
// inlining are the same here.
std::vector<std::uint32_t> labels_of(const Profile& profile) {
  const auto key = [&](FrameId frame) {
    return std::pair(profile.name(frame), profile.frames[frame].kind);
  };
  std::vector<FrameId> sorted(profile.frames.size());
  std::iota(sorted.begin(), sorted.end(), 0);
  std::sort(sorted.begin(), sorted.end(), [&](FrameId a, FrameId b) { return key(a) < key(b); });
  std::vector<std::uint32_t> labels(sorted.size());
  std::uint32_t label = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    if (i > 0 && key(sorted[i - 1]) != key(sorted[i])) ++label;
    labels[sorted[i]] = label;
  }
  return labels;
}

// The levels above the code: vCPUs, roots, "[idle]".
struct Group {
  std::map<std::string, std::unique_ptr<Group>> groups;
  WeighedStacks stacks;
  profile::Weight idle = 0;

  Group& group(const std::string& name) {
    std::unique_ptr<Group>& group = groups[name];
    if (!group) group = std::make_unique<Group>();
    return *group;
  }
  [[nodiscard]] Amount total() const {
    Amount sum{idle, profile::extent_of(idle)};
    sum += stacks.amount(0, stacks.size());
    for (const auto& [name, group] : groups) sum += group->total();
    return sum;
  }
};

Group grouped(const Profile& profile, const CallTreeOptions& options) {
  Group all;
  std::map<Root, Group*> roots;
  for (const profile::SampleGroup& samples : profile.samples) {
    const profile::Owner& owner = profile.owner_of(samples);
    if (!is_shown(owner, options.show_idle)) continue;
    const Root root = root_of(profile, samples, options.by);
    Group*& group = roots[root];
    if (group == nullptr) {
      group = &all;
      if (options.per_vcpu) group = &group->group(vcpu_name(owner.vcpu));
      const std::string name = root_name(profile, root, options.by);
      if (!name.empty()) group = &group->group(name);
    }
    if (samples.stack == profile::kNoNode)
      group->idle += samples.weight;
    else
      group->stacks.add(samples.stack, samples.weight);
  }
  return all;
}

// Writes a tree in preorder, and only its wide nodes: what is below a narrow one is not looked at.
class TreeWriter {
 public:
  TreeWriter(const Profile& profile, const CallTreeOptions& options)
      : profile_(profile), steps_(profile.stacks, options.reverse), labels_(labels_of(profile)) {}

  CallTree write(const Group& all, double minimum_share) && {
    minimum_ = minimum_share * static_cast<double>(all.total().extent);
    write_group("all", all, 0);
    set_ends(tree_.nodes);
    return std::move(tree_);
  }

 private:
  // A node that is not written yet: the slices [first, last) of waiting_. Those behind them are of
  // nodes that are written before.
  struct Step {
    std::size_t first;
    std::size_t last;
    std::uint32_t depth;
    Amount total;
  };
  using Steps = std::vector<Step>;  // the next one is the last

  void write_group(std::string_view name, const Group& group, std::uint32_t depth) {
    const std::uint32_t index = write_node(name, depth, group.total());
    tree_.nodes[index].self = group.idle;
    found_.clear();
    steps_.begin(group.stacks, [this](const StackSlice& slice) { found_.push_back(slice); });
    Steps todo;
    add_children(index, group.stacks, todo);
    // Groups and code are in one order of names; a group stands before code of its name.
    for (const auto& [child_name, child] : group.groups) {
      const Amount total = child->total();
      if (is_narrow(total)) {
        hide(index, total);
        continue;
      }
      write_code(group.stacks, todo, depth, child_name);
      write_group(tree_.own_names.emplace_back(child_name), *child, depth + 1);
    }
    write_code(group.stacks, todo, depth, std::nullopt);
  }

  // Writes the nodes of `todo`, with all below them: those at the level below `depth` only until
  // one has the name `limit` or a later one.
  void write_code(const WeighedStacks& stacks, Steps& todo, std::uint32_t depth,
                  std::optional<std::string_view> limit) {
    while (!todo.empty()) {
      const Step step = todo.back();
      const FrameId frame = frame_of(waiting_[step.first]);
      if (limit && step.depth == depth + 1 && profile_.name(frame) >= *limit) return;
      todo.pop_back();
      waiting_.resize(step.last);
      const std::uint32_t index = write_node(profile_.name(frame), step.depth, step.total);
      describe(index, step);
      found_.clear();
      for (std::size_t i = step.first; i < step.last; ++i)
        tree_.nodes[index].self += steps_.behind(
            waiting_[i], stacks, [this](const StackSlice& slice) { found_.push_back(slice); });
      add_children(index, stacks, todo);
    }
  }

  // Makes steps of the slices in found_, for each label one. The first label comes last.
  void add_children(std::uint32_t parent, const WeighedStacks& stacks, Steps& todo) {
    std::sort(found_.begin(), found_.end(), [this](const StackSlice& a, const StackSlice& b) {
      return std::pair(label_of(b), a.node) < std::pair(label_of(a), b.node);
    });
    for (std::size_t first = 0, last = 0; first < found_.size(); first = last) {
      Amount total;
      for (; last < found_.size() && label_of(found_[last]) == label_of(found_[first]); ++last)
        total += stacks.amount(found_[last].first, found_[last].last);
      if (is_narrow(total)) {
        hide(parent, total);
        continue;
      }
      const std::size_t at = waiting_.size();
      const auto begin = found_.begin();
      waiting_.insert(waiting_.end(), begin + static_cast<std::ptrdiff_t>(first),
                      begin + static_cast<std::ptrdiff_t>(last));
      todo.push_back({at, waiting_.size(), tree_.nodes[parent].depth + 1, total});
    }
  }

  std::uint32_t write_node(std::string_view name, std::uint32_t depth, Amount total) {
    CallTree::Node node;
    node.name = name;
    node.depth = depth;
    node.total = total.weight;
    node.extent = total.extent;
    tree_.depth = std::max(tree_.depth, depth);
    tree_.nodes.push_back(node);
    return static_cast<std::uint32_t>(tree_.nodes.size() - 1);
  }

  void describe(std::uint32_t index, const Step& step) {
    CallTree::Node& node = tree_.nodes[index];
    node.inlined = true;
    for (std::size_t i = step.first; i < step.last; ++i) {
      const profile::Frame& frame = profile_.frames[frame_of(waiting_[i])];
      const profile::Function* const function = &profile_.functions[frame.function];
      node.kind = frame.kind;
      node.inlined &= frame.inlined;
      node.several_functions |= node.function != nullptr && node.function != function;
      if (node.function == nullptr) node.function = function;
    }
  }

  void hide(std::uint32_t parent, Amount amount) {
    tree_.nodes[parent].hidden += amount.weight;
    tree_.hidden += amount.extent;
  }

  [[nodiscard]] bool is_narrow(Amount total) const {
    return static_cast<double>(total.extent) < minimum_;
  }
  [[nodiscard]] FrameId frame_of(const StackSlice& slice) const {
    return profile_.stacks[slice.node].frame;
  }
  [[nodiscard]] std::uint32_t label_of(const StackSlice& slice) const {
    return labels_[frame_of(slice)];
  }

  const Profile& profile_;
  SliceSteps steps_;
  std::vector<std::uint32_t> labels_;  // by frame
  double minimum_ = 0;
  CallTree tree_;
  std::vector<StackSlice> waiting_;
  std::vector<StackSlice> found_;  // reused
};

}  // namespace

void set_ends(std::vector<CallTree::Node>& nodes) {
  std::vector<std::uint32_t> open;
  for (std::uint32_t index = 0; index <= nodes.size(); ++index) {
    while (!open.empty() &&
           (index == nodes.size() || nodes[open.back()].depth >= nodes[index].depth)) {
      nodes[open.back()].end = index;
      open.pop_back();
    }
    open.push_back(index);
  }
}

CallTree make_call_tree(const Profile& profile, const CallTreeOptions& options) {
  return TreeWriter(profile, options).write(grouped(profile, options), options.minimum_share);
}

}  // namespace ringside::views
