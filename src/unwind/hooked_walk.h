#pragma once

#include <map>
#include <optional>
#include <vector>

#include "unwind/return_hook.h"
#include "unwind/rule_sources.h"
#include "unwind/step.h"

namespace ringside::unwind {

// Puts the return addresses back that tracers have replaced, along one walk. A record belongs to a
// frame if it names its place; where it names none, if it is the newest that is left and of the
// function that returns.
class HookedWalk {
 public:
  explicit HookedWalk(RuleSources& sources) : sources_(sources) {}

  // Another walk begins.
  void start() { hooks_.clear(); }
  // Where `caller`, whose pc is a return address of `left`, goes on in a hook, sets its pc to the
  // original. The reason where the walk ends there.
  [[nodiscard]] std::optional<Stop> restore(const MachineState& left, MachineState& caller,
                                            const wire::Capture& capture);
  // The step out of a hook's own code, to the code that it is about to return to, whose pc
  // restore() sets. Nothing where the frame is not in a hook, or its tables describe it.
  [[nodiscard]] std::optional<Step> leave_hook(const MachineState& frame,
                                               const StackMemory& memory);

 private:
  struct Records {
    std::vector<HookedReturn> all;  // the newest first
    std::size_t next = 0;           // the newest that is left
  };
  // Null where the capture has none.
  [[nodiscard]] Records* records_of(const ReturnHook& hook, const wire::Capture& capture);
  [[nodiscard]] std::optional<std::size_t> find(const Records& records, const MachineState& left,
                                                const MachineState& caller);
  [[nodiscard]] bool is_of(const HookedReturn& record, const MachineState& left);

  RuleSources& sources_;
  std::map<const ReturnHook*, std::optional<Records>> hooks_;
};

}  // namespace ringside::unwind
