#include "unwind/hooked_walk.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::unwind {
namespace {

// Whether the record says that it is of the return to `caller`.
bool is_at(const HookedReturn& record, const MachineState& caller) {
  const arch::RegisterRoles& roles = caller.platform->roles;
  const GuestVirt slot = caller.slots[roles.pc];
  return std::any_of(record.frames.begin(), record.frames.end(), [&](std::uint64_t frame) {
    return frame == slot.value || (caller.has(roles.fp) && frame == caller.get(roles.fp));
  });
}

}  // namespace

HookedWalk::Records* HookedWalk::records_of(const ReturnHook& hook, const wire::Capture& capture) {
  const auto [known, added] = hooks_.try_emplace(&hook);
  if (added)
    if (auto all = hooked_returns(hook, capture)) known->second = Records{std::move(*all)};
  return known->second ? &*known->second : nullptr;
}

bool HookedWalk::is_of(const HookedReturn& record, const MachineState& left) {
  if (!record.function || !record.frames.empty()) return false;
  const elf::Image* image = sources_.images().find_code(*record.function);
  if (image == nullptr || image != sources_.images().find_code(left.lookup_address())) return false;
  const auto function = sources_.code().function_start(*image, image->to_image(*record.function));
  return function &&
         function == sources_.code().function_start(*image, image->to_image(left.lookup_address()));
}

std::optional<std::size_t> HookedWalk::find(const Records& records, const MachineState& left,
                                            const MachineState& caller) {
  const auto first = records.all.begin() + static_cast<std::ptrdiff_t>(records.next);
  const auto index = [&](auto record) {
    return static_cast<std::size_t>(record - records.all.begin());
  };
  const auto is_left = [](const HookedReturn& record) { return !record.is_removed; };
  const auto placed = std::find_if(first, records.all.end(), [&](const HookedReturn& record) {
    return is_left(record) && is_at(record, caller);
  });
  if (placed != records.all.end()) return index(placed);
  // Any other function may have been called by the same one since.
  const bool in_hook = sources_.hook_around(left.lookup_address()) != nullptr;
  if (in_hook && first != records.all.end() && first->is_removed && is_at(*first, caller))
    return index(first);
  const auto newest = std::find_if(first, records.all.end(), is_left);
  return newest != records.all.end() && is_of(*newest, left) ? std::optional(index(newest))
                                                             : std::nullopt;
}

// A function that jumps to another one at its end leaves it the hooked return address: that one's
// record has the hook's, too.
std::optional<Stop> HookedWalk::restore(const MachineState& left, MachineState& caller,
                                        const wire::Capture& capture) {
  const std::uint8_t pc = caller.platform->roles.pc;
  while (const ReturnHook* hook = sources_.hook_at(caller.pc())) {
    Records* records = records_of(*hook, capture);
    if (records == nullptr)
      return hook->records == ReturnHook::Records::kNone
                 ? Stop{StopReason::kBadAddress, caller.pc()}
                 : Stop{.reason = StopReason::kNotCopied,
                        .at = caller.pc(),
                        .hooked_returns = HookedReturns::kNotCopied};
    const auto found = find(*records, left, caller);
    if (!found) return Stop{StopReason::kBadAddress, caller.pc()};
    caller.set(pc, records->all[*found].address.value, caller.slots[pc]);
    records->next = *found + 1;
  }
  return std::nullopt;
}

// It was returned to, not called: the place of the return address is below the stack pointer that
// the code has at its start. With a link register that is not to be found, and frame pointers are.
std::optional<Step> HookedWalk::leave_hook(const MachineState& frame, const StackMemory& memory) {
  const CodeAddress at{frame.pc(), frame.exact};
  const ReturnHook* hook = sources_.hook_around(at.lookup());
  if (hook == nullptr || !hook->has_no_frame) return std::nullopt;
  const arch::RegisterRoles& roles = frame.platform->roles;
  if (roles.link != arch::RegisterRoles::kNone) {
    Caller caller{.state = frame, .source = FrameSource::kFramePointer, .stack_switched = true};
    caller.state.forget(roles.sp);
    caller.state.forget(roles.link);
    caller.state.set(roles.pc, hook->start.value);
    caller.state.exact = false;
    return caller;
  }
  RuleSources::Known& known = sources_.known_at(at);
  const CodeRule& code = sources_.code_of(known, at);
  if (!code.rule) return Stop{StopReason::kNoRule, frame.pc()};
  Rule rule = *code.rule;
  rule.return_register = roles.pc;
  rule.registers[roles.pc] = {.kind = RegisterRule::Kind::kSame};
  Step step = apply(rule, {}, frame, memory);
  auto* caller = std::get_if<Caller>(&step);
  if (caller == nullptr) return step;
  const std::uint64_t sp = caller->state.sp().value - roles.pointer_size;
  caller->state.set(roles.sp, sp);
  caller->state.set(roles.pc, hook->start.value, {sp - roles.pointer_size});
  caller->state.exact = false;
  caller->stack_switched = true;  // it need not have used any of it
  return step;
}

}  // namespace ringside::unwind
