#pragma once

#include <vector>

#include "importers/callgrind/chains.h"
#include "importers/callgrind/cost_flow.h"

namespace ringside::importers::callgrind {

// How chains that come into a component go on to its functions: by the likeliest calls, each
// function once. In one of a single function they are there already.
class CirclePaths {
 public:
  CirclePaths(const CostFlow& flow, CallerTree& callers)
      : flow_(flow), callers_(callers), from_(flow.graph().function_count()) {}

  // The function that the next chains come to, which is of a component of so many functions.
  void start(std::uint32_t entry, std::size_t members);
  // The next chain: the callers of that function.
  void start_chain(std::uint32_t callers);
  // The callers of a function of the component on the chain at hand.
  [[nodiscard]] std::uint32_t callers_of(std::uint32_t function);
  // The same on the last chain that came to it; nobody where none did.
  [[nodiscard]] std::uint32_t last_callers_of(std::uint32_t function) const {
    return from_[function].callers;
  }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct From {
    std::uint32_t call = kNone;  // that leads to the function
    std::uint32_t search = 0;    // which found it
    double length = 0;           // of the way to it
    std::uint32_t chain = 0;     // that its callers are of
    std::uint32_t callers = CallerTree::kNowhere;
  };
  void search();
  [[nodiscard]] double weight_of(std::uint32_t call) const;

  const CostFlow& flow_;
  CallerTree& callers_;
  std::vector<From> from_;  // by function
  std::uint32_t entry_ = 0;
  std::uint32_t entry_callers_ = 0;
  std::uint32_t searches_ = 0;
  std::uint32_t chains_ = 0;
  std::uint64_t work_ = 0;               // calls that were looked at
  std::vector<std::uint32_t> way_back_;  // reused
};

}  // namespace ringside::importers::callgrind
