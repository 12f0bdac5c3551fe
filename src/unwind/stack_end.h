#pragma once

#include "unwind/rule_sources.h"
#include "unwind/stack_memory.h"

namespace ringside::unwind {

// Whether a frame is the outermost of its stack, where no rule and no frame pointer says so.
//
// The first function of a stack often returns to a value that is no return address: a zero, a
// poison, or the address of user code that entry code has left in the link register. It is a
// function's first byte where a scheduler wrote that, or would lie behind the end of mapped memory.
// But a word in the middle of a stack, which a wrong rule takes for a return address, looks like
// any of these. The words above distinguish the two: a frame that has callers lies below their
// return addresses. So a frame is the outermost only if from its end on no word is the address
// behind a call,
//  - up to the end of the page, all of which was copied, and for 512 bytes behind it as far as they
//    were, for a stack may have several pages; or
//  - for the next 512 bytes, or up to there, where the word is a zero or a function's first byte,
//    with which code says that a stack ends.
// A stack for which another one was left does not end, as far as the capture has that one.
// No address near the kernel's code ends a stack: it may be that of a module.
// Where a page ends and nothing is mapped behind it, a stack does.
// A stack may end in the middle of a page, below one that is in use. That is known only of a
// thread's first function: its frame record has a frame pointer of zero, it returns to a value that
// memory is filled with, which lies above it, too, and no direct call leads to it.
class StackEnd {
 public:
  StackEnd(RuleSources& sources, const StackMemory& memory) : sources_(sources), memory_(memory) {}

  // kEndOfStack in the place of `why`, the reason why nothing leads on from `frame`, if that is the
  // outermost one.
  [[nodiscard]] Stop judge(const MachineState& frame, const Stop& why) const;
  // The same where `caller` was found, and `why` says why it is none.
  [[nodiscard]] Stop judge(const MachineState& frame, const Caller& caller, const Stop& why) const;
  // Whether no return address is in the 512 bytes behind the frame that led to this one.
  [[nodiscard]] bool is_near(const MachineState& state) const {
    return is_last(end_below(state), false);
  }
  // For a zero that was found there.
  [[nodiscard]] bool is_near(GuestVirt end) const { return is_last(end, false); }
  // Whether a frame is that of code that called a function and does not expect it back, such as
  // the code that starts a CPU, at the end of a stack. That it gave itself a stack is not followed.
  [[nodiscard]] bool calls_first_function(const MachineState& frame) const;

 private:
  static constexpr std::uint64_t kPage = 4096;
  static constexpr std::uint64_t kNear = 512;

  // The first byte behind the frame that led to this one.
  [[nodiscard]] static GuestVirt end_below(const MachineState& state);
  [[nodiscard]] bool is_last(GuestVirt end, bool is_whole) const;
  // Whether code of an image follows a call there.
  [[nodiscard]] bool is_return_address(std::uint64_t word) const;
  // Whether another stack was left for this one.
  [[nodiscard]] bool leads_on(const wire::MemoryPiece& stack) const;
  // Whether code of no image may be there: of a module, or what of the kernel was not read where
  // all that is known of it is from the guest's memory. `partial_only`: only the latter.
  [[nodiscard]] bool may_be_unknown_code(GuestVirt at, bool partial_only) const;
  // Whether the frame is a thread's first function, by what it returns to.
  [[nodiscard]] bool is_first_function(const MachineState& frame, const Caller& caller) const;
  [[nodiscard]] bool memory_ends(GuestVirt at, GuestVirt below) const;

  RuleSources& sources_;
  const StackMemory& memory_;
};

}  // namespace ringside::unwind
