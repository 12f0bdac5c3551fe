#include "importers/callgrind/cost_flow.h"

#include <algorithm>
#include <utility>

#include "importers/callgrind/splitter.h"

namespace ringside::importers::callgrind {
namespace {

bool is_cost(std::int64_t cost) { return cost > 0; }

// The functions that calls which cost something come from.
std::vector<std::uint32_t> callers_of(const CallGraph& graph) {
  std::vector<std::uint32_t> callers(graph.call_count(), Adjacency::kNone);
  for (std::size_t call = 0; call < callers.size(); ++call) {
    const Costs costs = graph.call_costs(call);
    if (std::any_of(costs.begin(), costs.end(), is_cost))
      callers[call] = graph.call(call).from.function;
  }
  return callers;
}

std::vector<std::uint32_t> callees_of(const CallGraph& graph) {
  std::vector<std::uint32_t> callees(graph.call_count());
  for (std::size_t call = 0; call < callees.size(); ++call) callees[call] = graph.call(call).callee;
  return callees;
}

std::vector<std::uint32_t> functions_of_own(const CallGraph& graph) {
  std::vector<std::uint32_t> functions(graph.own_count());
  for (std::size_t own = 0; own < functions.size(); ++own) functions[own] = graph.own(own).function;
  return functions;
}

}  // namespace

CostFlow::CostFlow(CallGraph& graph)
    : graph_(graph),
      callees_(callees_of(graph)),
      calls_(graph.function_count(), callers_of(graph)),
      own_(graph.function_count(), functions_of_own(graph)),
      components_(components_of(graph.function_count(), calls_, callees_)),
      from_nowhere_(components_.count() * graph.events()) {
  balance();
}

// Callees come first, so that what flows out of a component is known.
void CostFlow::balance() {
  const std::size_t events = graph_.events();
  std::vector<std::uint32_t> into(callees_.size(), Adjacency::kNone);
  for (std::size_t function = 0; function < graph_.function_count(); ++function)
    for (const std::uint32_t call : calls_.of(function))
      if (!is_inside(call)) into[call] = components_.of[callees_[call]];
  const Adjacency calls_into(components_.count(), into);
  std::vector<std::int64_t> out(events);
  std::vector<std::int64_t> costs;
  std::vector<std::int64_t> parts;
  for (std::size_t component = 0; component < components_.count(); ++component) {
    std::fill(out.begin(), out.end(), 0);
    add_out(component, out);
    const auto calls = calls_into.of(component);
    for (std::size_t event = 0; event < events; ++event) {
      costs.clear();
      __extension__ unsigned __int128 in = 0;
      for (const std::uint32_t call : calls) {
        costs.push_back(std::max<std::int64_t>(graph_.call_costs(call)[event], 0));
        in += static_cast<std::uint64_t>(costs.back());
      }
      const bool is_more = in > static_cast<std::uint64_t>(out[event]);
      if (is_more) apportion(out[event], costs, parts);
      for (std::size_t i = 0; i < calls.size(); ++i)
        graph_.call_costs(calls[i])[event] = is_more ? parts[i] : costs[i];
      if (!is_more)
        from_nowhere_[component * events + event] = out[event] - static_cast<std::int64_t>(in);
    }
  }
}

// Each sum is at most that of all own costs: what flows through calls ends in them.
void CostFlow::add_out(std::size_t component, std::vector<std::int64_t>& sums) const {
  const auto add = [&](Costs costs) {
    for (std::size_t event = 0; event < sums.size(); ++event)
      sums[event] += std::max<std::int64_t>(costs[event], 0);
  };
  for (const std::uint32_t function : components_.members(component)) {
    for (const std::uint32_t own : own_.of(function)) add(graph_.own_costs(own));
    for (const std::uint32_t call : calls_.of(function))
      if (!is_inside(call)) add(std::as_const(graph_).call_costs(call));
  }
}

}  // namespace ringside::importers::callgrind
