#pragma once

#include <memory>
#include <optional>

#include "elf/image_map.h"
#include "unwind/compact_rule.h"
#include "unwind/rule.h"
#include "unwind/step.h"

namespace ringside::unwind {

// Properties of an address's frame, by the instructions around the address.
struct CodeRule {
  std::optional<Rule> rule;     // from the function's start to here
  bool interrupt_code = false;  // may be the code that hardware enters: its exit path decides
};

// Where code goes on to user code.
struct WayToUser {
  std::optional<Caller> user;  // is_user
  bool truncated = false;      // memory is missing that was not copied
};

// Steps through code that no table describes, by its instructions and frame pointers. One for each
// architecture.
class CodeStepper {
 public:
  virtual ~CodeStepper() = default;
  // Analyses the function around a pc, once per function; to be cached per address. For a return
  // address, `at` is the byte before it.
  [[nodiscard]] virtual CodeRule rule_at(const elf::Image& image, GuestVirt at) = 0;
  // The result of step() that holds for all stacks alike, for a pc whose `rule` leaves it to the
  // exit path of the code; kSlow where it takes a stack to decide.
  [[nodiscard]] virtual CompactRule exit_rule_at(const elf::Image&, const CodeRule& rule,
                                                 GuestVirt) {
    return {.kind = CompactRule::Kind::kSlow,
            .source = FrameSource::kInstructions,
            .ends_at_zero_fp = !rule.interrupt_code};
  }
  // `image` may be null for code outside of all images. A frame pointer of zero ends the stack
  // (psABIs: it marks the outermost frame), unless hardware entered here, or the frame is a leaf
  // that need not have set it. Where the stack pointer of `as_is` is at a link to another stack,
  // `state` has followed it; who carries out the instructions does that himself.
  [[nodiscard]] virtual Step step(const elf::Image* image, const CodeRule& rule,
                                  const MachineState& state, const MachineState& as_is,
                                  const StackMemory& memory) = 0;
  // User code's registers if the code goes on to user code, in a frame that has no caller.
  [[nodiscard]] virtual WayToUser way_to_user(const elf::Image&, const MachineState&,
                                              const StackMemory&) {
    return {};
  }
  // Whether a call ends right before `pc`, as before every return address. Where that is not known
  // it may.
  [[nodiscard]] virtual bool follows_call(const elf::Image&, ImageAddr) { return true; }
  // Where the function begins that a symbol says is at `at`.
  [[nodiscard]] virtual std::optional<ImageAddr> function_start(const elf::Image&, ImageAddr) {
    return std::nullopt;
  }
  // Whether a direct call or jump in the image may lead to `function`. Looks over all of the
  // image's code; to be cached per function.
  [[nodiscard]] virtual bool may_be_called(const elf::Image&, ImageAddr) { return true; }
  // Whether the function around `at` ends with a return from an interrupt, so that hardware may
  // have entered it. Call-frame information that a compiler writes for such a function describes
  // an ordinary one.
  [[nodiscard]] virtual bool returns_from_interrupt(const elf::Image&, ImageAddr) { return false; }
  // Whether all ways from `pc` end in a loop, a trap, or bytes that are no instruction: what calls
  // a stack's first function does not expect it back.
  [[nodiscard]] virtual bool never_returns(const elf::Image&, GuestVirt) { return false; }
  // Images have been added: what was cached may be wrong.
  virtual void forget() = 0;
};

// `images` must outlive it.
[[nodiscard]] std::unique_ptr<CodeStepper> make_code_stepper(Arch arch,
                                                             const elf::ImageMap& images);

}  // namespace ringside::unwind
