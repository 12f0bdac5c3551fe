#include "unwind/full_walk.h"

#include "arch/arch_info.h"
#include "unwind/x86/interrupt_frame.h"

namespace ringside::unwind {
namespace {

MachineState state_of(const wire::Capture& capture, const arch::ArchInfo& platform) {
  MachineState state;
  state.platform = &platform;
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg)
    if (capture.registers.has(reg)) state.set(reg, capture.registers.get(reg));
  state.exact = true;
  state.has_exception = true;
  return state;
}

// Whether hardware pushed the pc that was read from `slot` when it entered from user code: on x86
// the code segment lies behind it.
bool pushed_by_user(GuestVirt slot, const arch::ArchInfo& platform, const StackMemory& memory) {
  constexpr std::uint64_t kMaxSelector = 0xffff;
  if (slot.value == 0 || !platform.is_x86) return false;
  const auto cs = memory.read_pointer(slot + platform.roles.pointer_size);
  return cs && *cs <= kMaxSelector && platform.saved_mode.is_user(*cs);
}

// The same where no rule says that hardware pushed anything there. Any small number may look like
// user mode's code segment, and kernels that have no user mode have such numbers too.
bool seems_pushed_by_user(GuestVirt slot, const arch::ArchInfo& platform, const StackMemory& memory,
                          const elf::ImageMap& images) {
  if (!pushed_by_user(slot, platform, memory)) return false;
  const auto frame = x86::read_interrupt_frame(memory, slot, platform);
  return frame && x86::is_plausible(*frame, memory.capture(), images);
}

// A rule that computes the stack pointer has the interrupted kernel code's. Hardware pushes user
// code's behind the code segment and the flags (Intel SDM volume 3, 6.12.1).
MachineState with_pushed_sp(const MachineState& user, const StackMemory& memory) {
  const arch::ArchInfo& platform = *user.platform;
  const GuestVirt ip_slot = user.slots[platform.roles.pc];
  if (user.slots[platform.roles.sp].value != 0 || !pushed_by_user(ip_slot, platform, memory))
    return user;
  const GuestVirt slot = ip_slot + 3 * platform.roles.pointer_size;
  MachineState known = user;
  known.forget(platform.roles.sp);
  if (const auto sp = memory.read_pointer(slot)) known.set(platform.roles.sp, *sp, slot);
  return known;
}

// Where the kernel's stack has user code's stack pointer; nothing where a register has it. Entry
// code may be about to copy what it leaves by to another stack (i386 Linux): then it is the topmost
// copy in the frame of that code, whose stack pointer is `from`.
std::optional<GuestVirt> sp_slot_of(const MachineState& user, GuestVirt from,
                                    const StackMemory& memory) {
  constexpr std::uint64_t kSavedRegisters = 256;
  const arch::RegisterRoles& roles = user.platform->roles;
  const GuestVirt loaded_from = user.slots[roles.sp];
  if (!user.has_sp() || loaded_from.value == 0) return std::nullopt;
  if (memory.read_pointer(loaded_from) == user.sp().value) return loaded_from;
  for (std::uint64_t offset = kSavedRegisters; offset > 0;) {
    offset -= roles.pointer_size;
    if (memory.read_pointer(from + offset) == user.sp().value) return from + offset;
  }
  return std::nullopt;
}

// Linux's call_on_irqstack (arch/x86/include/asm/irq_stack.h) does `movq %rsp, (%tos); movq %tos,
// %rsp; call f; popq %rsp`, which only ORC knows: for the others the stack pointer there is the one
// that is about to be popped.
std::optional<MachineState> with_link_followed(const MachineState& state,
                                               const StackMemory& memory) {
  const arch::RegisterRoles& roles = state.platform->roles;
  for (const GuestVirt slot : {state.sp(), state.sp() - roles.pointer_size}) {
    const wire::MemoryPiece* link = state.has_sp() ? memory.link_at(slot) : nullptr;
    const auto value = link == nullptr ? std::nullopt : memory.read_pointer(slot);
    if (!value || *value == 0) continue;
    MachineState followed = state;
    followed.set(roles.sp, *value, slot);
    return followed;
  }
  return std::nullopt;
}

}  // namespace

void FullWalk::start(const wire::Capture& capture) {
  state_ = state_of(capture, sources_.platform());
  guessed_ = false;
  user_.reset();
  hooked_.start();
}

bool FullWalk::walk(const wire::Capture& capture, std::size_t max_frames, std::size_t enough,
                    Stack& stack) {
  const StackMemory memory(capture, sources_.images());
  const StackEnd ends(sources_, memory);
  const auto stop = [&](const Stop& why) {
    stack.stop = is_complete(why.reason) && guessed_ ? StopReason::kGuessed : why.reason;
    stack.stopped_at = why.at;
    stack.missing_link = why.link;
    if (why.hooked_returns != HookedReturns::kNone) stack.hooked_returns = why.hooked_returns;
    return true;
  };
  for (;;) {
    // A guess is to be known of at the stack's end.
    if (stack.frames.size() > enough && state_.has_sp() && !guessed_) return false;
    if (stack.frames.size() >= max_frames) return stop({StopReason::kTooDeep, state_.pc()});
    Step result = step(state_, memory);
    if (const auto* why = std::get_if<Stop>(&result)) {
      if (why->reason == StopReason::kEndOfStack)
        stack.frames.back().exact |= sources_.starts_stack(state_.pc());
      return stop(ends.judge(state_, *why));
    }
    Caller& caller = std::get<Caller>(result);
    if (caller.is_user) {
      user_ = caller;
      return stop({StopReason::kUserMode, state_.pc()});
    }
    if (!caller.interrupted && !caller.state.exact && sources_.hook_at(caller.state.pc())) {
      if (const auto why = hooked_.restore(state_, caller.state, capture)) return stop(*why);
      stack.hooked_returns = HookedReturns::kRestored;
    }
    const bool written = !caller.interrupted && !caller.state.exact &&
                         sources_.is_written_by_code(caller.state.pc());
    caller.state.exact |= written;
    caller.state.has_exception = state_.has_exception && !caller.interrupted;
    auto why = check(state_, caller, memory);
    const Last last = last_frame(caller, written, why, ends);
    if (why && last == Last::kUnknown) {
      if (why->reason == StopReason::kUserMode) user_ = caller;
      why = ends.judge(state_, caller, *why);
      const bool guessed = caller.source == FrameSource::kGuess && is_complete(why->reason);
      return stop(guessed ? Stop{StopReason::kGuessed, why->at} : *why);
    }
    guessed_ |= caller.source == FrameSource::kGuess;
    if (last == Last::kFrame) return stop({StopReason::kEndOfStack, state_.pc()});
    if (caller.interrupted)
      for (Frame& frame : stack.frames) frame.kind = FrameKind::kInterrupt;
    stack.frames.push_back(
        {.address = caller.state.pc(), .exact = caller.state.exact, .source = caller.source});
    state_ = caller.state;
    if (last == Last::kCaller) return stop({StopReason::kEndOfStack, state_.pc()});
    // Its link register's value cannot be determined.
    const bool is_lost = written && state_.platform->roles.link != arch::RegisterRoles::kNone;
    if (is_lost && !is_interrupt_code(state_)) return stop({StopReason::kBadAddress, state_.pc()});
  }
}

FullWalk::Last FullWalk::last_frame(const Caller& caller, bool written,
                                    const std::optional<Stop>& why, const StackEnd& ends) {
  if (written) {
    if (!ends.is_near(caller.state)) return Last::kUnknown;
    // A first function that was returned to: the link register still has its own address.
    if (is_of_function(state_, caller.state.pc())) return Last::kFrame;
    return is_interrupt_code(caller.state) ? Last::kUnknown : Last::kCaller;
  }
  // The code that starts a CPU may never have set the frame pointer.
  const bool lost = why && why->reason == StopReason::kNotAdvancing && !caller.state.has_sp();
  return lost && ends.calls_first_function(caller.state) ? Last::kCaller : Last::kUnknown;
}

bool FullWalk::is_of_function(const MachineState& frame, GuestVirt start) {
  const elf::Image* image = sources_.images().find_code(start);
  return image != nullptr &&
         sources_.code().function_start(*image, image->to_image(frame.lookup_address())) ==
             image->to_image(start);
}

bool FullWalk::is_interrupt_code(const MachineState& frame) {
  const CodeAddress at{frame.pc(), frame.exact};
  return sources_.code_of(sources_.known_at(at), at).interrupt_code;
}

UserEntry FullWalk::user_entry(const wire::Capture& capture, StopReason stop) {
  UserEntry entry;
  if (state_.has_sp()) entry.kernel_sp = state_.sp();
  const StackMemory memory(capture, sources_.images());
  const CodeAddress at{state_.pc(), state_.exact};
  if (stop != StopReason::kUserMode && stop != StopReason::kEndOfStack) return entry;
  if (!user_)
    if (const elf::Image* image = sources_.known_at(at).image) {
      const WayToUser way = sources_.code().way_to_user(*image, state_, memory);
      user_ = way.user;
      entry.truncated = way.truncated;
    }
  if (!user_) return entry;
  const MachineState user =
      user_->by_system_call ? user_->state : with_pushed_sp(user_->state, memory);
  const arch::RegisterRoles& roles = user.platform->roles;
  // Entry code of a system call may make a frame, and what it calls fill it in (i386 Linux).
  if (user.pc().value == 0) return entry;
  entry.by_system_call = user_->by_system_call;
  for (std::uint8_t reg = 0; reg < kTrackedRegisters; ++reg) {
    const bool matters =
        reg == roles.pc || reg == roles.sp || (roles.callee_saved >> reg & 1u) != 0;
    if (matters && user.has(reg)) entry.registers.set(reg, user.get(reg));
  }
  entry.sp_slot = sp_slot_of(user, state_.sp(), memory);
  entry.slot = entry.sp_slot;
  if (user.slots[roles.pc].value != 0) entry.pc_slot = user.slots[roles.pc];
  if (!entry.slot) entry.slot = entry.pc_slot;
  return entry;
}

std::optional<Step> FullWalk::saved_by_hardware(const Caller& by_table, RuleSources::Known& known,
                                                CodeAddress at, const MachineState& state,
                                                const StackMemory& memory) {
  const CodeRule& code = sources_.code_of(known, at);
  Step result = sources_.code().step(known.image, code, state, state, memory);
  const auto* caller = std::get_if<Caller>(&result);
  const std::uint8_t pc = state.platform->roles.pc;
  const bool is_hardwares = caller != nullptr && (caller->interrupted || caller->is_user);
  if (!is_hardwares || caller->state.slots[pc] != by_table.state.slots[pc]) return std::nullopt;
  return result;
}

// A table whose rule cannot be carried out (a register that is not known here) leaves the frame to
// the next source.
Step FullWalk::step(const MachineState& state, const StackMemory& memory) {
  if (auto out = hooked_.leave_hook(state, memory)) return *out;
  const CodeAddress at{state.pc(), state.exact};
  RuleSources::Known& known = sources_.known_at(at);
  std::optional<Stop> why;
  const auto followed = with_link_followed(state, memory);
  const MachineState& linked = followed ? *followed : state;
  for (const auto& candidate : known.tables) {
    const bool knows_links = candidate.rule.source == FrameSource::kOrc;
    Step result = apply(candidate.rule, candidate.context, knows_links ? state : linked, memory);
    if (const auto* caller = std::get_if<Caller>(&result); caller != nullptr && known.is_handler)
      if (auto saved = saved_by_hardware(*caller, known, at, state, memory)) return *saved;
    const auto* stop = std::get_if<Stop>(&result);
    if (stop == nullptr ||
        (stop->reason != StopReason::kLostRegister && stop->reason != StopReason::kNoRule))
      return result;
    if (!why) why = *stop;
  }
  Step result =
      sources_.code().step(known.image, sources_.code_of(known, at), linked, state, memory);
  // Where nothing knows on, the first source's reason is the one to report.
  const auto* stop = std::get_if<Stop>(&result);
  if (why && stop != nullptr && stop->reason == StopReason::kNoRule) return *why;
  return result;
}

std::optional<Stop> FullWalk::check(const MachineState& before, const Caller& caller,
                                    const StackMemory& memory) const {
  const MachineState& state = caller.state;
  const arch::RegisterRoles& roles = state.platform->roles;
  const GuestVirt pc_slot = state.slots[roles.pc];
  if (caller.interrupted && pushed_by_user(pc_slot, *state.platform, memory))
    return Stop{StopReason::kUserMode, before.pc()};
  const GuestVirt pc = state.pc();
  if (pc.value == 0) return Stop{StopReason::kEndOfStack, before.pc()};

  // A leaf with a link register need not use the stack at all.
  const bool may_stand = before.exact && roles.link != arch::RegisterRoles::kNone;
  const GuestVirt from = before.position();
  const GuestVirt to = state.position();
  const bool same_stack =
      !caller.stack_switched && memory.same_piece(from, to) && before.has_sp() == state.has_sp();
  const bool advances = to > from || (may_stand && to == from);
  // A leaf that was interrupted may have taken a few bytes only, as clang's do without a red zone.
  const std::uint64_t alignment = caller.interrupted ? 1
                                  : state.has_sp()   ? roles.stack_alignment
                                                     : roles.pointer_size;
  if (to.value % alignment != 0 || (same_stack && !advances))
    return Stop{StopReason::kNotAdvancing, to};
  if (sources_.images().find_code(state.exact ? pc : pc - 1) == nullptr) {
    const bool user_code =
        seems_pushed_by_user(pc_slot, *state.platform, memory, sources_.images());
    return Stop{user_code ? StopReason::kUserMode : StopReason::kBadAddress, pc};
  }
  return std::nullopt;
}

}  // namespace ringside::unwind
