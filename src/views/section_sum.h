#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "views/code_numbers.h"
#include "views/overhead.h"
#include "views/owner_numbers.h"
#include "views/row_order.h"
#include "views/sort_keys.h"

namespace ringside::views {

// Numbers for rows, which ascend through all owners and sections: the row of a function, where its
// number is one of the owner at hand. Sections that are summed up one after the other share them.
struct RowNumbers {
  explicit RowNumbers(const CodeNumbers& codes) : of_code(codes.end()) {}
  std::uint64_t next = 1;
  std::vector<std::uint64_t> of_code;  // 0: it has none
};

// Sums up one section. The stacks of one owner are taken in the order of the tree, so that only
// those frames are looked at that a stack does not have in common with the one before.
class SectionSum {
 public:
  SectionSum(const profile::Profile& profile, const OverheadOptions& options, const SortKeys& keys,
             const CodeNumbers& codes, OwnerNumbers& owners, RowNumbers& numbers)
      : profile_(profile),
        options_(options),
        keys_(keys),
        codes_(codes),
        owners_(owners),
        numbers_(numbers) {}

  // In the profile's order.
  void add(const profile::SampleGroup& group);
  [[nodiscard]] OverheadSection finish(const RowOrder& order) &&;

 private:
  struct OwnedStack {
    std::uint32_t owner;
    const profile::SampleGroup* group;
  };
  static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};
  // A frame of the stack at hand.
  struct Step {
    profile::NodeId node;
    std::uint32_t row;           // kNoRow where it has none of its own
    bool is_outermost;           // of those with this row
    profile::Weight weight = 0;  // of the stacks that have it
  };
  // The part of a row that each of its frames changes, apart from the rest: there are many rows.
  struct Sum {
    profile::Weight self = 0;
    profile::Weight total = 0;
    profile::Weight self_in_kernel = 0;
    profile::Weight self_in_user = 0;
    std::uint64_t self_samples = 0;
    std::uint32_t open = 0;  // frames of the stack at hand
    std::uint32_t depth = ~std::uint32_t{0};
    profile::Kind kind = profile::Kind::kInterrupt;
    bool inlined = true;
  };

  [[nodiscard]] bool has(SortKey key) const { return keys_.has(key); }
  [[nodiscard]] std::uint32_t row_of(const profile::SampleGroup& group, profile::FrameId frame);
  [[nodiscard]] OverheadRow new_row(const profile::SampleGroup& group,
                                    const profile::Frame& frame) const;
  void add_stacks();
  void add_stack(const profile::SampleGroup& group);
  void add_leaf(Sum& sum, const profile::SampleGroup& group) const;
  void enter(profile::NodeId node, const profile::SampleGroup& group);
  // Leaves all but the first `kept` frames of the stack at hand.
  void leave(std::size_t kept);
  // Those that weigh something.
  [[nodiscard]] std::vector<OverheadRow> take_rows();

  const profile::Profile& profile_;
  const OverheadOptions& options_;
  const SortKeys& keys_;
  const CodeNumbers& codes_;
  OwnerNumbers& owners_;
  RowNumbers& numbers_;
  OverheadSection section_;
  std::vector<OverheadRow> rows_;
  std::vector<Sum> sums_;           // by row
  std::uint64_t owners_first_ = 0;  // number of a row of the owner at hand
  std::vector<OwnedStack> stacks_;
  std::vector<Step> path_;            // root first
  std::vector<profile::NodeId> new_;  // reused
};

}  // namespace ringside::views
