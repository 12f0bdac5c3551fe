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

constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

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
      const Step step = std::move(todo_.back());
      todo_.pop_back();
      write(step);
      profile::Weight ending = 0;
      for (const Slice& slice : step.slices)
        ending += steps_.behind(slice.stacks, *slice.of, [&](const StackSlice& next) {
          found_.push_back({next, slice.of});
        });
      add_steps(step.node.depth + 1, ending == 0);
    }
    return std::move(tree_);
  }

 private:
  struct Step {
    RowTree::Node node;
    std::vector<Slice> slices;
  };

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

void RowTrees::Part::add(const SampleGroup& group, NodeId start) {
  const std::uint32_t at = stacks.size();
  stacks.add(group.stack, group.weight);
  if (starts.empty() || starts.back().node != start) starts.push_back({start, at, at});
  starts.back().last = at + 1;
}

RowTrees::RowTrees(const Profile& profile, const OverheadOptions& options,
                   const OverheadSection& section, const RowTreeOptions& tree)
    : profile_(profile),
      options_(options),
      tree_(tree),
      // As perf has it: a weight is a whole number.
      minimum_(std::floor(tree.minimum_share * static_cast<double>(section.extent))),
      keys_(options.keys),
      owners_(profile, options, keys_),
      has_row_(std::max(profile.functions.size(), profile.strings.size())) {
  for (const SampleGroup& group : profile.samples)
    if (profile.is_sampled(group)) (void)owners_.of(group);
  choose_rows(section);
  for (const SampleGroup& group : profile.samples)
    if (profile.is_sampled(group) && group.stack != profile::kNoNode) add(group);
}

void RowTrees::choose_rows(const OverheadSection& section) {
  for (const OverheadRow& row : section.rows) {
    numbers_.push_back(0);
    const auto owner = owners_.of(row);
    const std::uint64_t extent = profile::extent_of(tree_.with_callees ? row.total : row.self);
    if (!owner || extent == 0 || static_cast<double>(extent) < minimum_) continue;
    const std::uint32_t code = keys_.has(SortKey::kSymbol) ? row.function.value_or(0) : row.image;
    const auto number = static_cast<std::uint32_t>(samples_.size());
    rows_.emplace(key_of(*owner, code), number);
    has_row_[code] = true;
    samples_.emplace_back();
    numbers_.back() = number + 1;
  }
}

void RowTrees::find_places(const SampleGroup& group) {
  places_.clear();
  const std::uint32_t owner = owners_.of(group);
  bool is_leaf = true;
  for (NodeId id = group.stack; id != profile::kNoNode; id = profile_.stacks[id].parent) {
    const profile::Frame& frame = profile_.frames[profile_.stacks[id].frame];
    if (frame.inlined && !options_.inlined_rows) continue;
    if (!is_leaf && !tree_.with_callees) return;
    const std::uint32_t code = keys_.code_of(profile_, frame);
    const auto row = has_row_[code] ? rows_.find(key_of(owner, code)) : rows_.end();
    if (is_leaf) places_.push_back({row == rows_.end() ? kNoRow : row->second, group.stack});
    is_leaf = false;
    if (row == rows_.end()) continue;
    const auto place = std::find_if(places_.begin(), places_.end(),
                                    [&](const Place& known) { return known.row == row->second; });
    if (place == places_.end())
      places_.push_back({row->second, id});
    else if (tree_.callees)
      place->start = id;
  }
}

void RowTrees::add(const SampleGroup& group) {
  if (options_.only_with_parent && !owners_.parent_of(group.stack)) return;
  find_places(group);
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (place.row == kNoRow) continue;
    const bool is_leaf = i == 0;
    Samples& samples = samples_[place.row];
    (is_leaf ? samples.leaf : samples.inner).add(group, place.start);
  }
}

RowTree RowTrees::of(std::size_t row) const {
  if (numbers_[row] == 0) return {};
  const Samples& samples = samples_[numbers_[row] - 1];
  TreeMaker maker(profile_, tree_, minimum_);
  // The slices of whole stacks, which begin at their outermost callers.
  std::vector<StackSlice> whole;
  if (tree_.callees)
    SliceSteps(profile_.stacks, false).begin(samples.leaf.stacks, [&](const StackSlice& slice) {
      whole.push_back(slice);
    });
  maker.start(samples.leaf.stacks, tree_.callees ? whole : samples.leaf.starts);
  maker.start(samples.inner.stacks, samples.inner.starts);
  return std::move(maker).make();
}

}  // namespace ringside::views
