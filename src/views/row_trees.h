#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "profile/profile.h"
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
};

struct RowTreeOptions {
  bool callees = true;       // what a row calls; else who calls it
  bool with_callees = true;  // of the samples that a row stands in; else of those it is the leaf of
  double minimum_share = 0;  // of the section's extent: narrower nodes are cut, with all below them
  std::uint32_t most_siblings = 0;  // the heaviest ones; 0: all
};

// The trees of a section's rows. With `callees` and `with_callees` a tree begins with the row, in
// its outermost frame; those samples that the row is the leaf of have their whole stacks in it,
// from the outermost caller, as perf shows them. Without `callees` it begins with the row in its
// innermost frame. Rows that weigh less than the minimum have an empty tree.
class RowTrees {
 public:
  // Keeps references to what it is given, which is what `section` was made of.
  RowTrees(const profile::Profile& profile, const OverheadOptions& options,
           const OverheadSection& section, const RowTreeOptions& tree);

  // `row` is an index in the section.
  [[nodiscard]] RowTree of(std::size_t row) const;

 private:
  // Some samples of a row.
  struct Part {
    WeighedStacks stacks;
    std::vector<StackSlice> starts;  // where their trees begin
    void add(const profile::SampleGroup& group, profile::NodeId start);
  };
  struct Samples {
    Part leaf;   // that it is the leaf of
    Part inner;  // that it stands in further out
  };
  // A frame of the stack at hand that belongs to a row.
  struct Place {
    std::uint32_t row;
    profile::NodeId start;
  };

  void choose_rows(const OverheadSection& section);
  void add(const profile::SampleGroup& group);
  void find_places(const profile::SampleGroup& group);

  const profile::Profile& profile_;
  const OverheadOptions& options_;
  RowTreeOptions tree_;
  double minimum_ = 0;  // extent
  SortKeys keys_;
  OwnerNumbers owners_;
  std::vector<Samples> samples_;                           // of the rows with a tree
  std::vector<std::uint32_t> numbers_;                     // by row: in samples_, plus 1; 0: none
  std::unordered_map<std::uint64_t, std::uint32_t> rows_;  // by owner and code: in samples_
  std::vector<bool> has_row_;                              // by code: some row is of it
  std::vector<Place> places_;                              // reused
};

}  // namespace ringside::views
