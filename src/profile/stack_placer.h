#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "profile/collector.h"
#include "profile/frame_table.h"
#include "profile/stack_forest.h"

namespace ringside::profile {

// A group's stack before it has a place.
struct RecordedStack {
  std::uint32_t sample = 0;  // in Profile::samples
  std::uint32_t base = 0;    // in Collector::bases
  std::uint32_t part = 0;    // a recorded leaf, or kLostStack
  bool knows_mappings = false;
  bool is_placed = false;  // as an interrupt(): it is only counted
};

// Puts the parts of recorded stacks together: kernel code stands on the user code that entered it.
// Stacks on one base are placed one after the other, so that an array by recorded node finds what
// is placed on that base already.
class StackPlacer {
 public:
  // Recorded nodes beyond `most_nodes` are not placed, those of one on several bases counted each:
  // the parts of stacks that have them are kLostStackName.
  StackPlacer(const Collector& collected, FrameTable& frames, std::uint64_t most_nodes);

  // Places those frames of a stack that run because of an interrupt, from its entry to the leaf.
  // Where interrupts are nested, the outermost counts. kNoNode where there are none. All calls come
  // before place().
  NodeId interrupt(std::uint32_t recorded_node);

  // Fills `stack` and `user_part` of the samples that `stacks` name, but of those that are placed.
  // `stacks` is in order of samples. To be called once.
  void place(std::vector<RecordedStack> stacks, std::vector<SampleGroup>& samples);

  [[nodiscard]] bool is_full() const { return is_full_; }
  // Distinct stacks of all that was placed.
  [[nodiscard]] std::uint64_t distinct() const { return distinct_; }
  // All that was placed; the placer is not used afterwards.
  [[nodiscard]] StackForest take() && { return std::move(forest_); }

 private:
  struct Place {
    std::uint32_t base = 0;  // the number of the base that the node was last placed on
    NodeId node = kNoNode;   // there
  };
  using Leaves = std::vector<NodeId>;  // of bases

  void sort_by_base(std::vector<RecordedStack>& stacks) const;
  void place_bases(const std::vector<RecordedStack>& stacks);
  void place_stack(const RecordedStack& stack, SampleGroup& sample);
  void count(std::uint32_t base, std::uint32_t part);
  NodeId place_part(NodeId base, std::uint32_t recorded_node, bool knows_mappings);
  NodeId find_path(NodeId base, std::uint32_t recorded_node);
  NodeId append_path(NodeId parent, bool knows_mappings);
  // The node of kLostStackName on the base at hand.
  NodeId append_lost(NodeId base);

  const Collector& collected_;
  FrameTable& frames_;
  std::uint64_t most_nodes_;
  std::uint64_t placed_ = 0;
  bool is_full_ = false;  // a part was not placed
  Place lost_;
  StackForest forest_;
  LargeVector<Place> places_;               // by recorded node
  std::uint32_t base_ = 1;                  // the number of the base at hand
  std::vector<std::uint32_t> path_;         // of recorded nodes, leaf first; reused
  std::array<Leaves, 2> leaves_;            // by knows_mappings
  std::array<std::uint32_t, 2> nothing_{};  // the number of "no base", by knows_mappings
  std::vector<std::uint32_t> counted_on_;   // by recorded node: the last base, plus 1
  std::uint64_t distinct_ = 0;
};

}  // namespace ringside::profile
