#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "base/result.h"
#include "importers/callgrind/cost_flow.h"

namespace ringside::importers::callgrind {

// A stack and its costs by event.
struct EstimatedStack {
  std::vector<Spot> spots;  // leaf first; the line of a caller is that of its call
  std::vector<std::int64_t> costs;
  bool is_cut = false;  // its outer callers are left out
};

using TakeStack = std::function<Result<void>(const EstimatedStack&)>;

// Makes stacks of what flows through calls: whatever comes to a function by one chain of callers is
// split over its own lines and its calls in proportion to what flows into these, as gprof does.
// Costs are whole numbers, and nothing is rounded away: the costs of the stacks that end in a line
// add up to the line's, and those of the stacks with a call in them to what flows through it.
//
// In a component of several functions a chain goes on to each of them by the calls that are the
// likeliest, by their costs, so that each function stands in it once.
//
// Chains multiply, so those of which little flows (less than 1 / 4096 of all) are not split in
// proportion but go on to few functions each; the sums stay what they are. Where there are
// millions of chains, or one has more than 512 calls, the callers of the rest are cut off.
// Costs below 0 stand at one of the chains of their function. Errors: those of `take`.
[[nodiscard]] Result<void> estimate_stacks(const CostFlow& flow, const TakeStack& take);

}  // namespace ringside::importers::callgrind
