#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/dense_table.h"

namespace ringside::importers::callgrind {

// Texts by their ids are in Texts; 0 is none.
struct Function {
  std::uint32_t thread = 0;  // whose costs these are: the number of a CallGraph::Thread
  std::uint32_t object = 0;
  std::uint32_t file = 0;
  std::uint32_t name = 0;
  bool operator==(const Function&) const = default;
};

// A place in a function's code, which may be of another file than the function: inlined code is.
struct Spot {
  std::uint32_t function = 0;
  std::uint32_t file = 0;
  std::uint32_t line = 0;  // 0: not known
  bool operator==(const Spot&) const = default;
};

struct Call {
  Spot from;
  std::uint32_t callee = 0;  // a function
  bool operator==(const Call&) const = default;
};

// Costs of one line, or of the calls from one line, by event.
using Costs = std::span<const std::int64_t>;

// No sum of costs is larger.
inline constexpr std::int64_t kMostCost = std::int64_t{1} << 62;

// The contents of a file of callgrind: each function's own costs by source line, and the costs of
// each function's calls by line and callee, which contain those of all that these call.
class CallGraph {
 public:
  explicit CallGraph(std::size_t events) : events_(events), totals_(events) {}

  struct Thread {
    std::uint32_t pid = 0;     // 0: not known
    std::uint32_t number = 0;  // 0: not known, or of all threads
    bool operator==(const Thread&) const = default;
  };
  [[nodiscard]] std::uint32_t thread(const Thread& thread);
  [[nodiscard]] std::uint32_t function(const Function& function) {
    return functions_.find_or_add(function);
  }
  // As many costs as events. False where sums would be larger than kMostCost, or there is too much
  // for memory.
  [[nodiscard]] bool add_own(const Spot& spot, Costs costs);
  [[nodiscard]] bool add_call(const Call& call, Costs costs);
  [[nodiscard]] bool is_full() const { return is_full_; }  // something was not added

  [[nodiscard]] std::size_t events() const { return events_; }
  [[nodiscard]] const std::vector<Thread>& threads() const { return threads_; }
  [[nodiscard]] std::size_t function_count() const { return functions_.size(); }
  [[nodiscard]] const Function& function(std::size_t number) const {
    return functions_[number].key;
  }
  [[nodiscard]] std::size_t own_count() const { return own_.size(); }
  [[nodiscard]] const Spot& own(std::size_t number) const { return own_[number].key; }
  [[nodiscard]] Costs own_costs(std::size_t number) const {
    return Costs(own_costs_).subspan(number * events_, events_);
  }
  [[nodiscard]] std::size_t call_count() const { return calls_.size(); }
  [[nodiscard]] const Call& call(std::size_t number) const { return calls_[number].key; }
  [[nodiscard]] Costs call_costs(std::size_t number) const {
    return Costs(call_costs_).subspan(number * events_, events_);
  }
  [[nodiscard]] std::span<std::int64_t> call_costs(std::size_t number) {
    return std::span(call_costs_).subspan(number * events_, events_);
  }
  // The sums of all own costs, without those that are negative.
  [[nodiscard]] Costs totals() const { return totals_; }

 private:
  template <class Key>
  struct Entry {
    Key key;
  };
  struct Hash {
    std::uint64_t operator()(const Function& key) const {
      return mixed(pair(key.object, key.file) + mixed(pair(key.name, key.thread)));
    }
    std::uint64_t operator()(const Spot& key) const {
      return mixed(pair(key.file, key.line) + mixed(key.function));
    }
    std::uint64_t operator()(const Call& key) const {
      return mixed((*this)(key.from) + key.callee);
    }
    static std::uint64_t pair(std::uint32_t high, std::uint32_t low) {
      return std::uint64_t{high} << 32 | low;
    }
  };
  [[nodiscard]] bool has_room() const;

  std::size_t events_;
  bool is_full_ = false;
  std::vector<Thread> threads_;
  DenseTable<Function, Entry<Function>, Hash> functions_;
  DenseTable<Spot, Entry<Spot>, Hash> own_;
  DenseTable<Call, Entry<Call>, Hash> calls_;
  std::vector<std::int64_t> own_costs_;   // by own_ and event
  std::vector<std::int64_t> call_costs_;  // by calls_ and event
  std::vector<std::int64_t> totals_;      // by event
};

}  // namespace ringside::importers::callgrind
