#include "views/row_trees.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringside::views {
namespace {

using profile::FunctionId;
using profile::NodeId;
using profile::Profile;
using profile::SampleGroup;

constexpr std::uint64_t key_of(std::uint32_t owner, std::uint32_t code) {
  return std::uint64_t{owner} << 32 | code;
}

// Slices of a row's samples: those that it is the leaf of, or the others.
struct Slice {
  StackSlice stacks;
  const WeighedStacks* of = nullptr;
  [[nodiscard]] Amount amount() const { return of->amount(stacks.first, stacks.last); }
};

// Writes the nodes of one row in preorder, and only the wide ones.
class TreeMaker {
 public:
  TreeMaker(const Profile& profile, const RowTreeOptions& options, double minimum)
      : profile_(profile),
        options_(options),
        minimum_(minimum),
        steps_(profile.stacks, !options.callees) {}

  void start(const WeighedStacks& stacks, const std::vector<StackSlice>& starts) {
    for (const StackSlice& slice : starts) found_.push_back({slice, &stacks});
  }

  RowTree make() && {
    add_steps(0, false);
    while (!todo_.empty()) {
      if (tree_.nodes.size() == options_.most_nodes) {
        tree_.is_cut = true;
        break;
      }
      const Step step = std::move(todo_.back());
      todo_.pop_back();
      write(step);
      add_steps(step.node.depth + 1, !find_steps_behind(step));
    }
    return std::move(tree_);
  }

 private:
  struct Step {
    RowTree::Node node;
    std::vector<Slice> slices;
  };

  // Puts what comes behind a step in found_. True: some of its samples end there.
  bool find_steps_behind(const Step& step) {
    profile::Weight ending = 0;
    for (const Slice& slice : step.slices) {
      profile::Weight beyond = 0;
      ending += steps_.behind(slice.stacks, *slice.of, [&](const StackSlice& next) {
        const Slice behind{next, slice.of};
        if (frame_of(behind).is_beyond)
          beyond += behind.amount().weight;
        else
          found_.push_back(behind);
      });
      ending += beyond;
    }
    return ending != 0;
  }

  void write(const Step& step) {
    RowTree::Node node = step.node;
    node.inlined = std::all_of(step.slices.begin(), step.slices.end(),
                               [&](const Slice& slice) { return frame_of(slice).inlined; });
    tree_.nodes.push_back(node);
  }

  // Makes steps of the slices in found_, one of each function; the heaviest comes last.
  void add_steps(std::uint32_t depth, bool nothing_ends) {
    std::stable_sort(found_.begin(), found_.end(), [&](const Slice& a, const Slice& b) {
      return frame_of(a).function < frame_of(b).function;
    });
    const std::size_t before = todo_.size();
    std::size_t functions = 0;
    for (auto first = found_.begin(); first != found_.end(); ++functions) {
      const FunctionId function = frame_of(*first).function;
      const auto last = std::find_if(first, found_.end(), [&](const Slice& slice) {
        return frame_of(slice).function != function;
      });
      Amount amount;
      for (auto slice = first; slice != last; ++slice) amount += slice->amount();
      if (static_cast<double>(amount.extent) >= minimum_)
        todo_.push_back(
            {{function, false, false, false, depth, amount.weight, amount.extent}, {first, last}});
      first = last;
    }
    found_.clear();
    order(before);
    if (todo_.size() == before) return;
    todo_[before].node.is_last = true;
    todo_[before].node.is_only = depth != 0 && functions == 1 && nothing_ends;
  }

  void order(std::size_t before) {
    const auto begin = todo_.begin() + static_cast<std::ptrdiff_t>(before);
    std::stable_sort(begin, todo_.end(),
                     [](const Step& a, const Step& b) { return a.node.extent < b.node.extent; });
    const std::size_t siblings = todo_.size() - before;
    if (options_.most_siblings != 0 && siblings > options_.most_siblings)
      todo_.erase(begin, todo_.end() - static_cast<std::ptrdiff_t>(options_.most_siblings));
  }

  [[nodiscard]] const profile::Frame& frame_of(const Slice& slice) const {
    return profile_.frames[profile_.stacks[slice.stacks.node].frame];
  }

  const Profile& profile_;
  const RowTreeOptions& options_;
  double minimum_;
  SliceSteps steps_;
  RowTree tree_;
  std::vector<Step> todo_;    // the next one is the last
  std::vector<Slice> found_;  // reused
};

}  // namespace

RowTrees::RowTrees(const Profile& profile, const OverheadOptions& options,
                   const OverheadSection& section, const RowTreeOptions& tree)
    : profile_(profile),
      options_(options),
      tree_(tree),
      // As perf has it: a weight is a whole number.
      minimum_(std::floor(tree.minimum_share * static_cast<double>(section.extent))),
      keys_(options.keys),
      codes_(profile, keys_),
      owners_(profile, options, keys_),
      has_row_(codes_.end()) {
  std::vector<OwnedGroup> groups;
  for (const SampleGroup& group : profile.samples) {
    if (!profile.is_sampled(group) || group.stack == profile::kNoNode) continue;
    if (options.only_with_parent && !owners_.parent_of(group.stack)) continue;
    groups.push_back({owners_.of(group), &group});
  }
  // The profile has them by stack.
  std::stable_sort(groups.begin(), groups.end(),
                   [](const OwnedGroup& a, const OwnedGroup& b) { return a.owner < b.owner; });
  choose_rows(section);
  add_all(groups);
}

void RowTrees::choose_rows(const OverheadSection& section) {
  for (const OverheadRow& row : section.rows) {
    numbers_.push_back(kNoRow);
    const auto owner = owners_.of(row);
    const std::uint64_t extent = profile::extent_of(tree_.with_callees ? row.total : row.self);
    const auto code = codes_.of(row);
    if (!owner || !code || extent == 0 || static_cast<double>(extent) < minimum_) continue;
    numbers_.back() = static_cast<std::uint32_t>(samples_.size());
    rows_.emplace(key_of(*owner, *code), numbers_.back());
    has_row_[*code] = true;
    samples_.emplace_back();
  }
  open_.assign(samples_.size(), {kNoStep, 0});
}

void RowTrees::add_all(const std::vector<OwnedGroup>& groups) {
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i == 0 || groups[i].owner != groups[i - 1].owner) {
      if (i > 0) leave(0, stacks_.back().stacks.size());
      stacks_.emplace_back().owner = groups[i].owner;
    }
    add(*groups[i].group, stacks_.back());
  }
  if (!stacks_.empty()) leave(0, stacks_.back().stacks.size());
}

void RowTrees::add(const SampleGroup& group, OwnedStacks& all) {
  std::size_t common = path_.size();
  while (common > 0 && (group.stack < path_[common - 1].node ||
                        group.stack >= profile_.stacks[path_[common - 1].node].end))
    --common;
  leave(common, all.stacks.size());
  new_.clear();
  const NodeId last = path_.empty() ? profile::kNoNode : path_.back().node;
  for (NodeId id = group.stack; id != last; id = profile_.stacks[id].parent) new_.push_back(id);
  for (auto id = new_.rbegin(); id != new_.rend(); ++id) enter(*id, all);
  add_leaf(group, all.stacks.size());
  all.stacks.add(group.stack, group.weight);
}

void RowTrees::add_leaf(const SampleGroup& group, std::uint32_t at) {
  const auto step =
      std::find_if(path_.rbegin(), path_.rend(), [](const Step& each) { return !each.inlined; });
  if (step == path_.rend() || step->row == kNoRow) return;
  Samples& samples = samples_[step->row];
  const std::uint32_t index = samples.leaf.size();
  samples.leaf.add(group.stack, group.weight);
  samples.leaf_starts.push_back({group.stack, index, index + 1});
  // It does not count among the others.
  cut(step->row, at, open_[step->row].step, at + 1);
}

void RowTrees::enter(NodeId node, const OwnedStacks& all) {
  const profile::Frame& frame = profile_.frames[profile_.stacks[node].frame];
  const bool inlined = frame.inlined && !options_.inlined_rows;
  path_.push_back({node, kNoRow, kNoStep, inlined});
  const std::uint32_t code = codes_.of(profile_.stacks[node].frame);
  if (inlined || !has_row_[code]) return;
  const auto row = rows_.find(key_of(all.owner, code));
  if (row == rows_.end()) return;
  Step& step = path_.back();
  step.row = row->second;
  step.previous = open_[step.row].step;
  samples_[step.row].of_inner = &all.stacks;
  const auto number = static_cast<std::uint32_t>(path_.size() - 1);
  // Callees begin at the outermost frame of a row, callers at its innermost one.
  if (step.previous == kNoStep || !tree_.callees)
    cut(step.row, all.stacks.size(), number, all.stacks.size());
}

void RowTrees::leave(std::size_t kept, std::uint32_t at) {
  while (path_.size() > kept) {
    const Step step = path_.back();
    if (step.row != kNoRow && open_[step.row].step == path_.size() - 1)
      cut(step.row, at, step.previous, at);
    path_.pop_back();
  }
}

void RowTrees::cut(std::uint32_t row, std::uint32_t at, std::uint32_t step, std::uint32_t next) {
  Open& open = open_[row];
  if (open.step != kNoStep && open.first < at && tree_.with_callees)
    samples_[row].inner.push_back({path_[open.step].node, open.first, at});
  open = {step, next};
}

RowTree RowTrees::of(std::size_t row) const {
  if (numbers_[row] == kNoRow) return {};
  const Samples& samples = samples_[numbers_[row]];
  TreeMaker maker(profile_, tree_, minimum_);
  // The slices of whole stacks, which begin at their outermost callers.
  Slices whole;
  if (tree_.callees)
    SliceSteps(profile_.stacks, false).begin(samples.leaf, [&](const StackSlice& slice) {
      whole.push_back(slice);
    });
  maker.start(samples.leaf, tree_.callees ? whole : samples.leaf_starts);
  if (samples.of_inner != nullptr) maker.start(*samples.of_inner, samples.inner);
  return std::move(maker).make();
}

}  // namespace ringside::views
