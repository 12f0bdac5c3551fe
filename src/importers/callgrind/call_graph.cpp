#include "importers/callgrind/call_graph.h"

#include <algorithm>

namespace ringside::importers::callgrind {
namespace {

constexpr std::size_t kMostRows = 4 << 20;    // of lines and calls together
constexpr std::size_t kMostCosts = 24 << 20;  // of 8 bytes each
constexpr std::size_t kMostThreads = 1 << 16;

// Adds within what stays below the limit.
void add(std::int64_t& sum, std::int64_t cost) {
  sum = std::clamp(sum + std::clamp(cost, -kMostCost, kMostCost), -kMostCost, kMostCost);
}

}  // namespace

std::uint32_t CallGraph::thread(const Thread& thread) {
  auto known = std::find(threads_.begin(), threads_.end(), thread);
  if (known == threads_.end() && threads_.size() == kMostThreads) known = threads_.begin();
  if (known == threads_.end()) known = threads_.insert(known, thread);
  return static_cast<std::uint32_t>(known - threads_.begin());
}

bool CallGraph::has_room() const {
  return own_.size() + calls_.size() < kMostRows &&
         own_costs_.size() + call_costs_.size() + events_ <= kMostCosts;
}

bool CallGraph::add_own(const Spot& spot, Costs costs) {
  for (std::size_t i = 0; i < events_; ++i) is_full_ |= costs[i] > kMostCost - totals_[i];
  is_full_ |= !has_room() && own_.find(spot) == nullptr;
  if (is_full_) return false;
  const std::size_t at = std::size_t{own_.find_or_add(spot)} * events_;
  own_costs_.resize(own_.size() * events_);
  for (std::size_t i = 0; i < events_; ++i) {
    add(own_costs_[at + i], costs[i]);
    add(totals_[i], std::max<std::int64_t>(costs[i], 0));
  }
  return true;
}

bool CallGraph::add_call(const Call& call, Costs costs) {
  is_full_ |= !has_room() && calls_.find(call) == nullptr;
  if (is_full_) return false;
  const std::size_t at = std::size_t{calls_.find_or_add(call)} * events_;
  call_costs_.resize(calls_.size() * events_);
  for (std::size_t i = 0; i < events_; ++i) add(call_costs_[at + i], costs[i]);
  return true;
}

}  // namespace ringside::importers::callgrind
