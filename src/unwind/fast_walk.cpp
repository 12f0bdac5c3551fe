#include "unwind/fast_walk.h"

#include "unwind/stack_end.h"

namespace ringside::unwind {
namespace {

using Kind = CompactRule::Kind;
using Outcome = CompactStepper::Outcome;

// A frame pointer of zero ends a stack, as for CodeStepper::step; a leaf may not have set it yet.
bool ends_here(const CompactRule& rule, const Frontier& at) {
  if (!at.has_zero_fp()) return false;
  return rule.source == FrameSource::kFramePointer ||
         (rule.source == FrameSource::kInstructions && rule.ends_at_zero_fp && !at.exact);
}

}  // namespace

const CompactRule& FastWalk::look_up(CodeAddress at) {
  ++misses_;
  return cache_.add(at.key(), sources_.compact_at(at));
}

bool FastWalk::ends_near(GuestVirt cfa, const wire::Capture& capture) {
  const StackMemory memory(capture, sources_.images());
  return StackEnd(sources_, memory).is_near(cfa);
}

bool FastWalk::walk(const wire::Capture& capture, const Frontier& from, std::size_t max_frames,
                    Stack& stack) {
  Frontier at = from;
  CompactStepper stepper(capture, sources_.platform(), sources_.images());
  stepper.start(at);
  const auto end = [&](StopReason reason) {
    stack.stop = reason;
    stack.stopped_at = {at.pc};
    return true;
  };
  for (;;) {
    const CodeAddress code{{at.pc}, at.exact};
    const CompactRule* known = cache_.find(code.key());
    const CompactRule& rule = known != nullptr ? *known : look_up(code);
    ++lookups_;
    if (rule.is_plain && !at.has_zero_fp() && stack.frames.size() < max_frames &&
        stepper.step_plain(rule, at)) {
      stack.frames.push_back({.address = {at.pc}, .source = rule.source});
      continue;
    }
    if (rule.kind == Kind::kEnd || ends_here(rule, at)) {
      stack.frames.back().exact |= sources_.starts_stack({at.pc});
      return end(StopReason::kEndOfStack);
    }
    if (rule.kind == Kind::kUser) return end(StopReason::kUserMode);
    if (rule.kind == Kind::kNone || rule.kind == Kind::kSlow || stack.frames.size() >= max_frames)
      return false;
    const Outcome outcome = stepper.step(rule, at);
    if (outcome == Outcome::kGiveUp) return false;
    if (outcome == Outcome::kNoCaller)
      return ends_near({at.sp}, capture) && end(StopReason::kEndOfStack);
    if (outcome == Outcome::kUserMode) return end(StopReason::kUserMode);
    if (rule.kind == Kind::kFrame)
      for (Frame& frame : stack.frames) frame.kind = FrameKind::kInterrupt;
    stack.frames.push_back({.address = {at.pc}, .exact = at.exact, .source = rule.source});
  }
}

}  // namespace ringside::unwind
