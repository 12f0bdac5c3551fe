#include "importers/callgrind/circle_paths.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <utility>

namespace ringside::importers::callgrind {
namespace {

constexpr std::uint64_t kMostWork = 64 << 20;

}  // namespace

void CirclePaths::start(std::uint32_t entry, std::size_t members) {
  entry_ = entry;
  ++searches_;
  from_[entry].search = searches_;
  if (members > 1 && work_ < kMostWork) search();
}

// Dijkstra's algorithm: a way is the shorter the likelier it is, and a call is as likely as the
// part that it has of its caller's costs.
void CirclePaths::search() {
  using Found = std::pair<double, std::uint32_t>;  // length of the way, function
  std::priority_queue<Found, std::vector<Found>, std::greater<>> found;
  found.emplace(0, entry_);
  from_[entry_].length = 0;
  while (!found.empty()) {
    const auto [length, function] = found.top();
    found.pop();
    if (length > from_[function].length) continue;
    const auto calls = flow_.calls().of(function);
    double sum = 0;
    for (const std::uint32_t call : calls) sum += weight_of(call);
    work_ += calls.size();
    for (const std::uint32_t call : calls) {
      if (!flow_.is_inside(call)) continue;
      const std::uint32_t callee = flow_.callee(call);
      From& to = from_[callee];
      const double longer = length + std::log(sum / weight_of(call));
      if (to.search == searches_ && to.length <= longer) continue;
      to.search = searches_;
      to.call = call;
      to.length = longer;
      found.emplace(longer, callee);
    }
  }
}

// By the first event, for that is what is shown first.
double CirclePaths::weight_of(std::uint32_t call) const {
  return std::max(static_cast<double>(flow_.graph().call_costs(call)[0]), 0.5);
}

void CirclePaths::start_chain(std::uint32_t callers) {
  ++chains_;
  entry_callers_ = callers;
  from_[entry_].chain = chains_;
  from_[entry_].callers = callers;
}

std::uint32_t CirclePaths::callers_of(std::uint32_t function) {
  way_back_.clear();
  std::uint32_t at = function;
  while (from_[at].chain != chains_) {
    From& from = from_[at];
    if (from.search != searches_) {
      // There was too much to search: it is called by the one that the chain comes to.
      from.chain = chains_;
      from.callers = callers_.add(entry_callers_, Spot{entry_, 0, 0});
      break;
    }
    way_back_.push_back(at);
    at = flow_.graph().call(from.call).from.function;
  }
  for (; !way_back_.empty(); way_back_.pop_back()) {
    From& from = from_[way_back_.back()];
    const Spot& caller = flow_.graph().call(from.call).from;
    from.chain = chains_;
    from.callers = callers_.add(from_[caller.function].callers, caller);
  }
  return from_[function].callers;
}

}  // namespace ringside::importers::callgrind
