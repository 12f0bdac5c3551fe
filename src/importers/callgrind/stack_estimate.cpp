#include "importers/callgrind/stack_estimate.h"

#include <algorithm>

#include "importers/callgrind/chains.h"
#include "importers/callgrind/circle_paths.h"
#include "importers/callgrind/splitter.h"

namespace ringside::importers::callgrind {
namespace {

constexpr std::int64_t kSmallest = 1 << 12;  // a part of all that is split in proportion
constexpr std::uint64_t kMostCells = 128 << 20;

class Estimate {
 public:
  Estimate(const CostFlow& flow, const TakeStack& take)
      : flow_(flow),
        graph_(flow.graph()),
        take_(take),
        chains_(graph_.function_count(), graph_.events()),
        paths_(flow, callers_),
        splitter_(graph_.events()),
        amounts_(graph_.events()) {}

  // Callers come before their callees.
  Result<void> run() {
    for (std::size_t component = flow_.components().count(); component-- > 0;)
      RINGSIDE_TRY(pass_on(component));
    return {};
  }

 private:
  static constexpr std::uint32_t kOwn = 0xffffffff;
  // Where amounts go: to a line of a function's own, or through a call.
  struct Column {
    std::uint32_t function = 0;
    std::uint32_t own = 0;
    std::uint32_t call = kOwn;
  };

  Result<void> pass_on(std::size_t component) {
    const auto members = flow_.components().members(component);
    add_from_nowhere(component);
    start_columns(members);
    for (const std::uint32_t entry : members) {
      taken_.clear();
      chains_.take(entry, taken_);
      if (taken_.empty()) continue;
      sort_taken();
      paths_.start(entry, members.size());
      for (const auto& [share, chain] : by_share_) RINGSIDE_TRY(split(chain, share));
      chains_.release(taken_);
    }
    return take_negative(members);
  }

  void add_from_nowhere(std::size_t component) {
    const Costs amounts = flow_.from_nowhere(component);
    if (std::all_of(amounts.begin(), amounts.end(), [](std::int64_t x) { return x == 0; })) return;
    chains_.add(outermost_of(component), CallerTree::kNowhere, amounts);
  }

  // In a circle, the function whose calls cost most.
  [[nodiscard]] std::uint32_t outermost_of(std::size_t component) const {
    const auto members = flow_.components().members(component);
    std::uint32_t outermost = members.front();
    double most = -1;
    for (const std::uint32_t function : members) {
      double sum = 0;
      for (const std::uint32_t call : flow_.calls().of(function))
        sum += static_cast<double>(graph_.call_costs(call)[0]);
      if (sum <= most) continue;
      most = sum;
      outermost = function;
    }
    return outermost;
  }

  void start_columns(std::span<const std::uint32_t> members) {
    columns_.clear();
    splitter_.start();
    for (const std::uint32_t function : members) {
      for (const std::uint32_t own : flow_.own().of(function)) {
        columns_.push_back({function, own, kOwn});
        splitter_.add_column(graph_.own_costs(own));
      }
      for (const std::uint32_t call : flow_.calls().of(function)) {
        if (flow_.is_inside(call)) continue;
        columns_.push_back({function, 0, call});
        splitter_.add_column(graph_.call_costs(call));
      }
    }
  }

  // The largest part that a chain has of all that an event counts.
  [[nodiscard]] double share_of(const Chains::Chain& chain) const {
    const Costs amounts = chains_.amounts(chain);
    double share = 0;
    for (std::size_t event = 0; event < amounts.size(); ++event)
      if (amounts[event] != 0)
        share = std::max(share, static_cast<double>(amounts[event]) /
                                    static_cast<double>(graph_.totals()[event]));
    return share;
  }

  // Larger ones first, so that what is split in proportion finds room everywhere.
  void sort_taken() {
    by_share_.clear();
    for (const Chains::Chain& chain : taken_) by_share_.emplace_back(share_of(chain), chain);
    std::sort(by_share_.begin(), by_share_.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second.callers < b.second.callers;
    });
  }

  Result<void> split(const Chains::Chain& chain, double share) {
    const std::uint64_t cells = columns_.size() * graph_.events();
    const bool is_large = share * kSmallest >= 1 && cells_ + cells <= kMostCells;
    if (is_large) cells_ += cells;
    const Costs row = chains_.amounts(chain);
    const auto parts =
        is_large ? splitter_.split_in_proportion(row) : splitter_.split_in_order(row);
    paths_.start_chain(chain.callers);
    for (std::size_t i = 0; i < parts.size();) {
      std::fill(amounts_.begin(), amounts_.end(), 0);
      const std::size_t column = parts[i].column;
      for (; i < parts.size() && parts[i].column == column; ++i)
        amounts_[parts[i].event] = parts[i].amount;
      RINGSIDE_TRY(pass_on(columns_[column]));
    }
    return {};
  }

  // The costs in amounts_.
  Result<void> pass_on(const Column& column) {
    const std::uint32_t callers = paths_.callers_of(column.function);
    if (column.call == kOwn) return emit(callers, column.own);
    chains_.add(flow_.callee(column.call), callers_.add(callers, graph_.call(column.call).from),
                amounts_);
    return {};
  }

  Result<void> emit(std::uint32_t callers, std::uint32_t own) {
    stack_.spots.assign(1, graph_.own(own));
    stack_.is_cut = callers_.append_to(stack_.spots, callers);
    stack_.costs = amounts_;
    return take_(stack_);
  }

  // They take part in no flow.
  Result<void> take_negative(std::span<const std::uint32_t> members) {
    for (const std::uint32_t function : members)
      for (const std::uint32_t own : flow_.own().of(function)) {
        const Costs costs = graph_.own_costs(own);
        if (std::all_of(costs.begin(), costs.end(), [](std::int64_t cost) { return cost >= 0; }))
          continue;
        std::transform(costs.begin(), costs.end(), amounts_.begin(),
                       [](std::int64_t cost) { return std::min<std::int64_t>(cost, 0); });
        RINGSIDE_TRY(emit(paths_.last_callers_of(function), own));
      }
    return {};
  }

  const CostFlow& flow_;
  const CallGraph& graph_;
  const TakeStack& take_;
  CallerTree callers_;
  Chains chains_;
  CirclePaths paths_;
  Splitter splitter_;
  std::vector<Column> columns_;  // of the component at hand
  std::uint64_t cells_ = 0;      // room of columns that was looked at
  EstimatedStack stack_;         // reused
  std::vector<std::int64_t> amounts_;
  std::vector<Chains::Chain> taken_;
  std::vector<std::pair<double, Chains::Chain>> by_share_;  // those that are taken
};

}  // namespace

Result<void> estimate_stacks(const CostFlow& flow, const TakeStack& take) {
  return Estimate(flow, take).run();
}

}  // namespace ringside::importers::callgrind
