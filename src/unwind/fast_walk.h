#pragma once

#include <vector>

#include "unwind/rule_sources.h"
#include "wire/capture.h"

namespace ringside::unwind {

// Walks a stack by compact rules alone, with a cache from address to rule in front of all sources:
// what almost every stack needs, without a table search or an allocation per frame. It gives up on
// anything unusual (a slow rule, memory outside of the copied pieces, a stack that does not
// advance), and then the walk that tracks all registers starts again from the leaf and decides.
// Where this one ends by itself, that one gives the same frames.
class FastWalk {
 public:
  explicit FastWalk(RuleSources& sources);

  // The frames behind the first are added to `stack`. False: it gave up; what was added is to be
  // thrown away.
  [[nodiscard]] bool walk(const wire::Capture& capture, std::size_t max_frames, Stack& stack);

  void forget();
  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint64_t misses() const { return misses_; }

 private:
  struct Slot {
    std::uint64_t key = 0;
    bool used = false;
    CompactRule rule;
  };
  [[nodiscard]] const CompactRule& rule_at(CodeAddress at);

  RuleSources& sources_;
  std::vector<Slot> cache_;
  std::uint64_t hits_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace ringside::unwind
