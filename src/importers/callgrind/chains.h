#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "importers/callgrind/call_graph.h"

namespace ringside::importers::callgrind {

// The callers of functions, as a tree: each link is a caller, and its parent is whoever called it.
class CallerTree {
 public:
  static constexpr std::uint32_t kNowhere = 0;  // no caller
  static constexpr std::uint32_t kCut = 1;      // callers that are left out

  CallerTree() : links_(2) {}

  // kCut where the chain gets too long, or there are too many.
  [[nodiscard]] std::uint32_t add(std::uint32_t parent, const Spot& caller);
  // Appends the callers, innermost first. Whether outer ones are left out.
  bool append_to(std::vector<Spot>& spots, std::uint32_t link) const;

 private:
  struct Link {
    Spot caller;
    std::uint32_t parent = kNowhere;
    std::uint32_t depth = 0;
  };
  std::vector<Link> links_;
};

// Amounts that flow into functions, by the callers that they come from, until they flow on.
class Chains {
 public:
  Chains(std::size_t functions, std::size_t events)
      : events_(events), first_(functions, kNone), cut_(functions, kNone) {}

  // Those without their callers are one chain of the function, and where there are too many chains,
  // others become of these.
  void add(std::uint32_t function, std::uint32_t callers, Costs amounts);

  struct Chain {
    std::uint32_t callers = 0;  // in the CallerTree
    std::uint32_t number = 0;   // for amounts()
  };
  // Those of a function, and takes them from it. Their amounts are there until release().
  void take(std::uint32_t function, std::vector<Chain>& out);
  [[nodiscard]] Costs amounts(const Chain& chain) const {
    return Costs(amounts_).subspan(chain.number * events_, events_);
  }
  void release(const std::vector<Chain>& chains);

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Entry {
    std::uint32_t callers = 0;
    std::uint32_t next = kNone;  // of the same function
  };
  [[nodiscard]] std::uint32_t new_entry();
  [[nodiscard]] bool has_room() const;

  std::size_t events_;
  std::vector<std::uint32_t> first_;  // by function, in entries_
  std::vector<std::uint32_t> cut_;    // by function, the one without its callers
  std::vector<Entry> entries_;
  std::vector<std::int64_t> amounts_;  // by entry and event
  std::vector<std::uint32_t> free_;    // entries
};

}  // namespace ringside::importers::callgrind
