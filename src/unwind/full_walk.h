#pragma once

#include "unwind/fast_walk.h"
#include "unwind/hooked_walk.h"
#include "unwind/rule_sources.h"
#include "unwind/stack_end.h"
#include "unwind/stack_memory.h"
#include "unwind/user/user_entry.h"
#include "wire/capture.h"

namespace ringside::unwind {

// Walks a stack with all registers tracked, and says why where it cannot go on.
class FullWalk {
 public:
  explicit FullWalk(RuleSources& sources) : sources_(sources), hooked_(sources) {}

  // Begins with the capture's registers, as the only frame of a stack.
  void start(const wire::Capture& capture);
  // Adds frames to `stack`, behind the last that it has added before. True when the stack is at its
  // end, and says why; false as soon as there are more than `enough` frames, and compact rules can
  // go on from frontier().
  [[nodiscard]] bool walk(const wire::Capture& capture, std::size_t max_frames, std::size_t enough,
                          Stack& stack);
  [[nodiscard]] Frontier frontier() const { return frontier_of(state_); }
  // The registers of the frame that was added last.
  [[nodiscard]] const MachineState& state() const { return state_; }
  // Where walk() has ended: at user code, or where no rule leads on and the code goes on to user
  // code.
  [[nodiscard]] UserEntry user_entry(const wire::Capture& capture, StopReason stop);

 private:
  [[nodiscard]] Step step(const MachineState& state, const StackMemory& memory);
  // The frame that hardware saved, where a table takes its pc for a return address.
  [[nodiscard]] std::optional<Step> saved_by_hardware(const Caller& by_table,
                                                      RuleSources::Known& known, CodeAddress at,
                                                      const MachineState& state,
                                                      const StackMemory& memory);
  // Judges a caller, and finds the crossing to user code.
  [[nodiscard]] std::optional<Stop> check(const MachineState& before, const Caller& caller,
                                          const StackMemory& memory) const;

  // Which frame is the outermost, as far as a caller that was found says so. `written`: its pc is
  // is_written_by_code(); `why`: what check() says of it.
  enum class Last : std::uint8_t { kUnknown, kFrame, kCaller };
  [[nodiscard]] Last last_frame(const Caller& caller, bool written, const std::optional<Stop>& why,
                                const StackEnd& ends);
  // Whether the frame's function begins there.
  [[nodiscard]] bool is_of_function(const MachineState& frame, GuestVirt start);
  // Whether the frame's code may lead on to what hardware interrupted.
  [[nodiscard]] bool is_interrupt_code(const MachineState& frame);

  RuleSources& sources_;
  HookedWalk hooked_;
  MachineState state_;
  bool guessed_ = false;        // some frame was
  std::optional<Caller> user_;  // user code that the walk has come to
};

}  // namespace ringside::unwind
