#include "profile/stack_placer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "profile/sanitize.h"

namespace ringside::profile {

StackPlacer::StackPlacer(const Collector& collected, FrameTable& frames, std::uint64_t most_nodes)
    : collected_(collected),
      frames_(frames),
      most_nodes_(most_nodes),
      places_(collected.nodes.size()) {
  forest_.reserve(collected.nodes.size());
}

// Fills path_ with the nodes that are not placed on this base yet. Returns the node on which the
// outermost of them belongs.
NodeId StackPlacer::find_path(NodeId base, std::uint32_t recorded_node) {
  path_.clear();
  for (std::uint32_t id = recorded_node; id != 0; id = collected_.nodes[id].parent) {
    if (places_[id].base == base_) return places_[id].node;
    path_.push_back(id);
  }
  return base;
}

NodeId StackPlacer::append_path(NodeId parent, bool knows_mappings) {
  for (auto it = path_.rbegin(); it != path_.rend(); ++it) {
    for (const FrameId frame : frames_.frames_of(collected_.nodes[*it].frame, knows_mappings))
      parent = forest_.append(parent, frame);
    places_[*it] = {base_, parent};
  }
  return parent;
}

NodeId StackPlacer::place_part(NodeId base, std::uint32_t recorded_node, bool knows_mappings) {
  if (recorded_node == recording::kLostStack) return append_lost(base);
  const NodeId parent = find_path(base, recorded_node);
  if (path_.size() > most_nodes_ - placed_) {
    is_full_ = true;
    return append_lost(base);
  }
  placed_ += path_.size();
  return append_path(parent, knows_mappings);
}

NodeId StackPlacer::append_lost(NodeId base) {
  if (lost_.base != base_)
    lost_ = {base_, forest_.append(base, frames_.placeholder(kLostStackName))};
  return lost_.node;
}

NodeId StackPlacer::interrupt(std::uint32_t recorded_node) {
  if (recorded_node == recording::kLostStack) return kNoNode;
  const NodeId parent = find_path(kNoNode, recorded_node);
  if (parent == kNoNode)
    while (!path_.empty() &&
           collected_.frames[collected_.nodes[path_.back()].frame].kind != FrameKind::kInterrupt)
      path_.pop_back();
  return append_path(parent, false);
}

void StackPlacer::place(std::vector<RecordedStack> stacks, std::vector<SampleGroup>& samples) {
  counted_on_.resize(collected_.nodes.size() + 1);
  place_bases(stacks);
  sort_by_base(stacks);
  const RecordedStack* last = nullptr;
  std::uint32_t newest = base_;
  for (const RecordedStack& stack : stacks) {
    const bool is_same =
        last != nullptr && last->base == stack.base && last->knows_mappings == stack.knows_mappings;
    last = &stack;
    if (!is_same) base_ = stack.base == 0 ? nothing_[stack.knows_mappings] : ++newest;
    count(stack.base, stack.part);
    if (!stack.is_placed) place_stack(stack, samples[stack.sample]);
  }
}

// Those of a base that know mappings come behind the others. `stacks` is in order of samples, and
// so are those of each base.
void StackPlacer::sort_by_base(std::vector<RecordedStack>& stacks) const {
  const auto number = [](const RecordedStack& stack) {
    return 2 * std::size_t{stack.base} + (stack.knows_mappings ? 1 : 0);
  };
  std::vector<std::uint32_t> places(2 * std::size_t{collected_.bases.size()} + 1);  // by number
  for (const RecordedStack& stack : stacks) ++places[number(stack) + 1];
  std::partial_sum(places.begin(), places.end(), places.begin());
  std::vector<RecordedStack> sorted(stacks.size());
  for (const RecordedStack& stack : stacks) sorted[places[number(stack)]++] = stack;
  stacks = std::move(sorted);
}

// Bases that stand on nothing are placed together, with the stacks that do; of those that stand on
// others there are few.
void StackPlacer::place_bases(const std::vector<RecordedStack>& stacks) {
  const PartLists& bases = collected_.bases;
  std::array<std::vector<bool>, 2> is_wanted;
  for (auto& wanted : is_wanted) wanted.resize(bases.size());
  for (const RecordedStack& stack : stacks) is_wanted[stack.knows_mappings][stack.base] = true;
  for (const bool knows_mappings : {false, true}) {
    std::vector<bool>& wanted = is_wanted[knows_mappings];
    Leaves& leaves = leaves_[knows_mappings];
    leaves.resize(bases.size());
    for (std::uint32_t id = bases.size(); id-- > 1;)
      if (wanted[id]) wanted[bases.base(id)] = true;
    nothing_[knows_mappings] = ++base_;
    for (std::uint32_t id = 1; id < bases.size(); ++id)
      if (wanted[id] && bases.base(id) == 0)
        leaves[id] = place_part(kNoNode, bases.part(id), knows_mappings);
    for (std::uint32_t id = 1; id < bases.size(); ++id) {
      if (!wanted[id] || bases.base(id) == 0) continue;
      ++base_;
      leaves[id] = place_part(leaves[bases.base(id)], bases.part(id), knows_mappings);
    }
  }
}

void StackPlacer::place_stack(const RecordedStack& stack, SampleGroup& sample) {
  const Leaves& leaves = leaves_[stack.knows_mappings];
  sample.stack = place_part(leaves[stack.base], stack.part, stack.knows_mappings);
  std::uint32_t root = stack.base;
  while (root != 0 && collected_.bases.base(root) != 0) root = collected_.bases.base(root);
  sample.user_part = leaves[root];
  if (sample.stack == kNoNode)
    sample.stack = forest_.append(kNoNode, frames_.placeholder(kNoStackName));
}

// Stacks come in order of their bases.
void StackPlacer::count(std::uint32_t base, std::uint32_t part) {
  std::uint32_t& counted = part == recording::kLostStack ? counted_on_.back() : counted_on_[part];
  if (counted != base + 1) ++distinct_;
  counted = base + 1;
}

}  // namespace ringside::profile
