#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "profile/profile.h"
#include "views/code_numbers.h"
#include "views/overhead.h"
#include "views/owner_numbers.h"
#include "views/sort_keys.h"
#include "views/stack_slices.h"

namespace ringside::views {

// The tree of calls of one row, as perf's reports have it: merged by function, heaviest first.
// Nodes are in preorder, without a root; those at the top have depth 0.
struct RowTree {
  struct Node {
    profile::FunctionId function = 0;
    bool inlined = false;  // in all of its frames
    // Its parent leads to it alone, of all that the samples have: what is in one line with it.
    bool is_only = false;
    bool is_last = false;  // of its siblings here
    std::uint32_t depth = 0;
    profile::Weight weight = 0;
    std::uint64_t extent = 0;
  };
  std::vector<Node> nodes;
  bool is_cut = false;  // there are more than RowTreeOptions::most_nodes
};

struct RowTreeOptions {
  bool callees = true;       // what a row calls; else who calls it
  bool with_callees = true;  // of the samples that a row stands in; else of those it is the leaf of
  double minimum_share = 0;  // of the section's extent: narrower nodes are cut, with all below them
  std::uint32_t most_siblings = 0;     // the heaviest ones; 0: all
  std::uint32_t most_nodes = 100'000;  // of one tree
};

// The trees of a section's rows. With `callees` and `with_callees` a tree begins with the row, in
// its outermost frame; those samples that the row is the leaf of have their whole stacks in it,
// from the outermost caller, as perf shows them. Without `callees` it begins with the row in its
// innermost frame. Rows that weigh less than the minimum have an empty tree.
//
// Time and memory grow with the nodes of the stacks, once for each owner that the keys distinguish.
class RowTrees {
 public:
  // Keeps references to what it is given, which is what `section` was made of.
  RowTrees(const profile::Profile& profile, const OverheadOptions& options,
           const OverheadSection& section, const RowTreeOptions& tree);

  // `row` is an index in the section.
  [[nodiscard]] RowTree of(std::size_t row) const;

 private:
  using Slices = std::vector<StackSlice>;
  // Some samples of one owner.
  struct OwnedStacks {
    std::uint32_t owner = 0;
    WeighedStacks stacks;
  };
  struct OwnedGroup {
    std::uint32_t owner;
    const profile::SampleGroup* group;
  };
  struct Samples {
    WeighedStacks leaf;  // that the row is the leaf of
    Slices leaf_starts;  // their leaves
    Slices inner;        // that the row stands in further out, and where their trees begin
    const WeighedStacks* of_inner = nullptr;
  };
  // A frame of the stack at hand.
  struct Step {
    profile::NodeId node;
    std::uint32_t row;  // in samples_; kNoRow where it has none
    std::uint32_t
        previous;  // in path_: the row's frame further out; kNoStep: this is the outermost
    bool inlined;  // and no row of its own
  };
  // The frame of a row that the stacks at hand begin at.
  struct Open {
    std::uint32_t step;       // in path_; kNoStep: the row is not in the stack at hand
    std::uint32_t first = 0;  // of the owner's stacks
  };
  static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};
  static constexpr std::uint32_t kNoStep = ~std::uint32_t{0};

  void choose_rows(const OverheadSection& section);
  void add_all(const std::vector<OwnedGroup>& groups);
  void add(const profile::SampleGroup& group, OwnedStacks& all);
  void add_leaf(const profile::SampleGroup& group, std::uint32_t at);
  void enter(profile::NodeId node, const OwnedStacks& all);
  // Leaves all but the first `kept` frames of the stack at hand; `at` stacks of the owner are in.
  void leave(std::size_t kept, std::uint32_t at);
  // Ends the slice of a row at the stack `at`, and begins the next one at the stack `next`.
  void cut(std::uint32_t row, std::uint32_t at, std::uint32_t step, std::uint32_t next);

  const profile::Profile& profile_;
  const OverheadOptions& options_;
  RowTreeOptions tree_;
  double minimum_ = 0;  // extent
  SortKeys keys_;
  CodeNumbers codes_;
  OwnerNumbers owners_;
  std::vector<Samples> samples_;                           // of the rows with a tree
  std::vector<std::uint32_t> numbers_;                     // by row: in samples_, or kNoRow
  std::unordered_map<std::uint64_t, std::uint32_t> rows_;  // by owner and code: in samples_
  std::vector<bool> has_row_;                              // by code: some row is of it
  std::deque<OwnedStacks> stacks_;
  std::vector<Step> path_;            // root first
  std::vector<Open> open_;            // by row with a tree
  std::vector<profile::NodeId> new_;  // reused
};

}  // namespace ringside::views
