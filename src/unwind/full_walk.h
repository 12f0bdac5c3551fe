#pragma once

#include "unwind/rule_sources.h"
#include "unwind/stack_memory.h"
#include "wire/capture.h"

namespace ringside::unwind {

// Walks a stack with all registers tracked, and says why where it cannot go on.
class FullWalk {
 public:
  explicit FullWalk(RuleSources& sources) : sources_(sources) {}

  // The frames behind the first are added to `stack`, and why it ended.
  void walk(const wire::Capture& capture, std::size_t max_frames, Stack& stack);

 private:
  [[nodiscard]] Step step(const MachineState& state, const StackMemory& memory);
  // Judges a caller, and finds the crossing to user code.
  [[nodiscard]] std::optional<Stop> check(const MachineState& before, const Caller& caller,
                                          const StackMemory& memory) const;

  RuleSources& sources_;
};

}  // namespace ringside::unwind
