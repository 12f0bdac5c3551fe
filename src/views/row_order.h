#pragma once

#include <cstdint>
#include <vector>

#include "profile/profile.h"
#include "views/overhead.h"

namespace ringside::views {

// The order of a table's rows: by the weight of `by`, the heaviest first, then by the other weight.
// With callees, a caller stands above a callee of the same weight, as in perf. Then by the names of
// function, image and thread, by process, thread and vCPU, and by the names of parent and control
// group.
class RowOrder {
 public:
  RowOrder(const profile::Profile& profile, OverheadOptions::Sort by);
  void sort(std::vector<OverheadRow>& rows) const;

 private:
  struct Place;

  [[nodiscard]] Place place_of(const OverheadRow& row, std::uint32_t number) const;
  [[nodiscard]] std::uint32_t rank_of(const std::optional<profile::FunctionId>& function) const;
  [[nodiscard]] bool goes_before(const OverheadRow& a, const OverheadRow& b) const;

  const profile::Profile& profile_;
  OverheadOptions::Sort by_;
  std::vector<std::uint32_t> ranks_;  // by StringId: where the string stands among all, sorted
};

}  // namespace ringside::views
