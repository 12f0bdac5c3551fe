#pragma once

#include "unwind/compact_stepper.h"
#include "unwind/rule_cache.h"
#include "unwind/rule_sources.h"
#include "wire/capture.h"

namespace ringside::unwind {

// Walks a stack by compact rules alone, with a cache from address to rule in front of all sources:
// what almost every stack needs, without a table search or an allocation per frame. It gives up on
// anything unusual (a slow rule, memory outside of the copied pieces, a stack that does not
// advance), and then the walk that tracks all registers decides. Where this one ends by itself,
// that one gives the same frames.
class FastWalk {
 public:
  explicit FastWalk(RuleSources& sources) : sources_(sources) {}

  // The frames behind `from`, which is the last of `stack`, are added to it. False: it gave up;
  // what was added is to be thrown away.
  [[nodiscard]] bool walk(const wire::Capture& capture, const Frontier& from,
                          std::size_t max_frames, Stack& stack);

  void forget() { cache_.forget(); }
  [[nodiscard]] std::uint64_t hits() const { return lookups_ - misses_; }
  [[nodiscard]] std::uint64_t misses() const { return misses_; }

 private:
  // Looks up the rule of an address that the cache does not have.
  [[nodiscard]] const CompactRule& look_up(CodeAddress at);
  // Whether the stack that a frame with this CFA is on ends there.
  [[nodiscard]] bool ends_near(GuestVirt cfa, const wire::Capture& capture);

  RuleSources& sources_;
  RuleCache cache_;
  std::uint64_t lookups_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace ringside::unwind
