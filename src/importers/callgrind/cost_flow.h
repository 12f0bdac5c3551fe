#pragma once

#include <vector>

#include "importers/callgrind/call_graph.h"
#include "importers/callgrind/components.h"

namespace ringside::importers::callgrind {

// A call graph as a net in which costs flow from the outermost functions to the lines that have
// them. Functions that call each other in circles are one component: calls inside of it carry
// nothing, for callgrind counts their costs several times.
//
// Into each component flows what its functions cost themselves and what flows out of it. Where its
// calls cost more than that (an input that is cut, or whose counts have begun late), less of it
// flows through them, in proportion; where they cost less, the rest comes from nowhere, as it does
// for the outermost functions.
class CostFlow {
 public:
  // Changes the costs of the graph's calls to what flows; the graph must outlive it.
  explicit CostFlow(CallGraph& graph);

  [[nodiscard]] const CallGraph& graph() const { return graph_; }
  [[nodiscard]] const Components& components() const { return components_; }
  // Those that cost something, by the function that they come from.
  [[nodiscard]] const Adjacency& calls() const { return calls_; }
  [[nodiscard]] std::uint32_t callee(std::uint32_t call) const { return callees_[call]; }
  [[nodiscard]] bool is_inside(std::uint32_t call) const {
    return components_.of[graph_.call(call).from.function] == components_.of[callees_[call]];
  }
  // Lines that cost something, by function.
  [[nodiscard]] const Adjacency& own() const { return own_; }
  // Costs that come from nowhere, by event.
  [[nodiscard]] Costs from_nowhere(std::size_t component) const {
    return Costs(from_nowhere_).subspan(component * graph_.events(), graph_.events());
  }

 private:
  void balance();
  void add_out(std::size_t component, std::vector<std::int64_t>& sums) const;

  CallGraph& graph_;
  std::vector<std::uint32_t> callees_;  // by call
  Adjacency calls_;
  Adjacency own_;
  Components components_;
  std::vector<std::int64_t> from_nowhere_;  // by component and event
};

}  // namespace ringside::importers::callgrind
