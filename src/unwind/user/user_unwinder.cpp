#include "unwind/user/user_unwinder.h"

#include <map>
#include <optional>
#include <utility>

#include "arch/arch_info.h"
#include "base/least_recent.h"
#include "unwind/compact_stepper.h"
#include "unwind/user/user_rules.h"
#include "unwind/x86/call_site.h"

namespace ringside::unwind {
namespace {

MachineState state_of(const arch::Registers& registers, const arch::ArchInfo& platform) {
  MachineState state;
  state.platform = &platform;
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg)
    if (registers.has(reg)) state.set(reg, registers.get(reg));
  state.exact = true;
  return state;
}

// A leaf need not have set its frame pointer, unless its frame is found by it.
bool is_outermost(const UserRules::Known& known, const Frontier& at) {
  if (known.is_entry) return true;
  if (!known.ends_at_zero_fp || !at.has_zero_fp()) return false;
  return !at.exact || known.compact.source == FrameSource::kFramePointer;
}

Frame frame_of(const Frontier& at, const UserCode::Range* range, FrameSource source) {
  Frame frame{.address = {at.pc}, .exact = at.exact, .source = source, .kind = FrameKind::kUser};
  if (range == nullptr) return frame;
  frame.address = {range->to_image(frame.address).value};
  frame.image = range->image;
  return frame;
}

// `syscall` leaves its return address in rcx (Intel SDM volume 2B).
bool is_in_system_call(const MachineState& leaf, const wire::Capture& capture) {
  return capture.level == PrivilegeLevel::kKernel && leaf.platform->id == Arch::kX86_64 &&
         leaf.has(arch::x86_64::kRcx) && leaf.get(arch::x86_64::kRcx) == leaf.pc().value;
}

Stack leaf_of(const MachineState& leaf, const UserCode& code) {
  Stack stack;
  stack.frames.reserve(16);
  stack.frames.push_back(
      frame_of(frontier_of(leaf), code.find(leaf.pc()), FrameSource::kRegisters));
  return stack;
}

Stack leaf_alone(const MachineState& leaf, const UserCode& code, StopReason why) {
  Stack stack = leaf_of(leaf, code);
  stack.stop = why;
  stack.stopped_at = leaf.pc();
  return stack;
}

}  // namespace

class UserUnwinder::Impl {
 public:
  Impl(std::size_t max_frames, std::size_t max_bytes)
      : max_frames_(max_frames), max_bytes_(max_bytes) {}

  [[nodiscard]] Stack unwind(const MachineState& leaf, const wire::Capture& capture,
                             const UserCode& code);

 private:
  // A file, and the architecture of its code: on x86_64 that may be either one.
  using Key = std::pair<const elf::ElfFile*, const arch::ArchInfo*>;
  struct Known {
    std::unique_ptr<UserRules> rules;  // keeps the file, so that its address stands for it
    std::uint64_t last_use = 0;
    std::size_t bytes = 0;  // when all were added up
  };

  // Adds the callers of `leaf`, which is all that `stack` has. By compact rules alone, which most
  // stacks need no more than; false: what was added is to be thrown away.
  [[nodiscard]] bool walk_fast(const MachineState& leaf, PcKind kind, const wire::Capture& capture,
                               const UserCode& code, Stack& stack);
  // With all registers tracked.
  void walk_full(const MachineState& leaf, PcKind kind, const wire::Capture& capture,
                 const UserCode& code, Stack& stack);
  [[nodiscard]] UserRules& rules_of(const UserCode::Range& range, const arch::ArchInfo& platform);
  [[nodiscard]] Step step(const MachineState& state, PcKind kind, const UserCode::Range* range,
                          const StackMemory& memory, const UserCode& code);
  // Whether there is a call in front of `pc`, or a signal handler returns to it.
  [[nodiscard]] bool may_return_to(GuestVirt pc, const arch::ArchInfo& platform,
                                   const UserCode& code);
  [[nodiscard]] static std::optional<Stop> check(const MachineState& before, const Caller& caller,
                                                 const UserCode& code);

  std::size_t max_frames_;
  std::size_t max_bytes_;
  std::map<Key, Known> known_;
  std::uint64_t uses_ = 0;
  elf::ImageMap no_images_;
};

UserRules& UserUnwinder::Impl::rules_of(const UserCode::Range& range,
                                        const arch::ArchInfo& platform) {
  const auto [at, is_new] = known_.try_emplace(Key{range.file.get(), &platform});
  Known& known = at->second;
  known.last_use = ++uses_;
  if (is_new) known.rules = std::make_unique<UserRules>(range.file, platform);
  constexpr std::size_t kCheckedGrowth = std::size_t{1} << 20;
  const std::size_t bytes = known.rules->memory_use();
  if (!is_new && bytes < known.bytes + kCheckedGrowth) return *known.rules;
  known.bytes = bytes;
  forget_beyond(known_, max_bytes_, [](const Known& each) { return each.rules->memory_use(); });
  return *known.rules;
}

bool UserUnwinder::Impl::may_return_to(GuestVirt pc, const arch::ArchInfo& platform,
                                       const UserCode& code) {
  const UserCode::Range* range = pc.value == 0 ? nullptr : code.find(pc - 1);
  if (range == nullptr || !range->file) return false;
  if (x86::follows_call(*range->file, range->to_image(pc))) return true;
  const auto& rule =
      rules_of(*range, platform).at(range->to_image(pc), PcKind::kReturnAddress).rule;
  return rule && rule->signal_frame;
}

Step UserUnwinder::Impl::step(const MachineState& state, PcKind kind, const UserCode::Range* range,
                              const StackMemory& memory, const UserCode& code) {
  if (range == nullptr || !range->file) return Stop{StopReason::kNoRule, state.pc()};
  const UserRules::Known& known =
      rules_of(*range, *state.platform).at(range->to_image(state.pc()), kind);
  if (is_outermost(known, frontier_of(state))) return Stop{StopReason::kEndOfStack, state.pc()};
  if (!known.rule) return Stop{StopReason::kNoRule, state.pc()};
  const RuleContext context{known.section, range->load_bias, true};
  const bool checks_call = known.checks_call;
  Step result = apply(*known.rule, context, state, memory);
  const auto* caller = std::get_if<Caller>(&result);
  if (checks_call && caller != nullptr && !may_return_to(caller->state.pc(), *state.platform, code))
    return Stop{StopReason::kNoRule, state.pc()};
  return result;
}

std::optional<Stop> UserUnwinder::Impl::check(const MachineState& before, const Caller& caller,
                                              const UserCode& code) {
  const MachineState& state = caller.state;
  const arch::RegisterRoles& roles = state.platform->roles;
  if (state.pc().value == 0) return Stop{StopReason::kEndOfStack, before.pc()};
  if (!state.has_sp()) return Stop{StopReason::kLostRegister, state.pc()};
  // A leaf need not use the stack at all: it has a link register, or has popped its return address
  // (vfork on x86). A signal may have a stack of its own.
  const bool may_stand = before.exact;
  const bool advances = state.sp() > before.sp() || (may_stand && state.sp() == before.sp());
  if (state.sp().value % roles.pointer_size != 0 || (!advances && !caller.interrupted))
    return Stop{StopReason::kNotAdvancing, state.sp()};
  if (code.find(state.lookup_address()) == nullptr)
    return Stop{StopReason::kBadAddress, state.pc()};
  return std::nullopt;
}

Stack UserUnwinder::Impl::unwind(const MachineState& leaf, const wire::Capture& capture,
                                 const UserCode& code) {
  Stack stack = leaf_of(leaf, code);
  const PcKind kind = is_in_system_call(leaf, capture) ? PcKind::kInSystemCall : PcKind::kExact;
  if (walk_fast(leaf, kind, capture, code, stack)) return stack;
  stack.frames.resize(1);
  walk_full(leaf, kind, capture, code, stack);
  return stack;
}

bool UserUnwinder::Impl::walk_fast(const MachineState& leaf, PcKind kind,
                                   const wire::Capture& capture, const UserCode& code,
                                   Stack& stack) {
  using Kind = CompactRule::Kind;
  const arch::ArchInfo& platform = *leaf.platform;
  Frontier at = frontier_of(leaf);
  CompactStepper stepper(capture, platform, no_images_);
  const auto end = [&stack](StopReason reason, GuestVirt pc) {
    stack.stop = reason;
    stack.stopped_at = pc;
    return true;
  };
  const UserCode::Range* range = code.find(leaf.pc());
  while (stack.frames.size() < max_frames_) {
    if (range == nullptr) return false;
    const GuestVirt pc{at.pc};
    if (!range->file) return end(StopReason::kNoRule, pc);
    const UserRules::Known& known = rules_of(*range, platform).at(range->to_image(pc), kind);
    const CompactRule rule = known.compact;
    const bool checks_call = known.checks_call;
    if (rule.kind == Kind::kEnd || is_outermost(known, at)) return end(StopReason::kEndOfStack, pc);
    if (rule.kind == Kind::kNone) return end(StopReason::kNoRule, pc);
    if (!(rule.is_plain && stepper.step_plain(rule, at)) &&
        (rule.kind != Kind::kCall || stepper.step(rule, at) != CompactStepper::Outcome::kStep))
      return false;
    const GuestVirt caller{at.pc};
    if (checks_call && !may_return_to(caller, platform, code)) return end(StopReason::kNoRule, pc);
    range = code.find(caller - 1);
    kind = PcKind::kReturnAddress;
    stack.frames.push_back(frame_of(at, range, rule.source));
  }
  return end(StopReason::kTooDeep, {at.pc});
}

void UserUnwinder::Impl::walk_full(const MachineState& leaf, PcKind kind,
                                   const wire::Capture& capture, const UserCode& code,
                                   Stack& stack) {
  const StackMemory memory(capture, no_images_, leaf.platform->id);
  MachineState state = leaf;
  const UserCode::Range* range = code.find(state.lookup_address());
  const auto stop = [&stack](const Stop& why) {
    stack.stop = why.reason;
    stack.stopped_at = why.at;
  };
  for (;;) {
    if (stack.frames.size() >= max_frames_) return stop({StopReason::kTooDeep, state.pc()});
    const Step result = step(state, kind, range, memory, code);
    if (const auto* why = std::get_if<Stop>(&result)) return stop(*why);
    const Caller& caller = std::get<Caller>(result);
    if (const auto why = check(state, caller, code)) return stop(*why);
    // The code that a signal's handler returns to has called nothing: it is at its first byte.
    if (caller.interrupted) stack.frames.back().exact = true;
    state = caller.state;
    kind = state.exact ? PcKind::kExact : PcKind::kReturnAddress;
    range = code.find(state.lookup_address());
    stack.frames.push_back(frame_of(frontier_of(state), range, caller.source));
  }
}

UserUnwinder::UserUnwinder(std::size_t max_frames, std::size_t max_bytes)
    : impl_(std::make_unique<Impl>(max_frames, max_bytes)) {}
UserUnwinder::~UserUnwinder() = default;
UserUnwinder::UserUnwinder(UserUnwinder&&) noexcept = default;
UserUnwinder& UserUnwinder::operator=(UserUnwinder&&) noexcept = default;

Stack UserUnwinder::unwind(Arch arch, const arch::Registers& registers,
                           const wire::Capture& capture, const UserCode& code) {
  const arch::ArchInfo* platform = arch::find_info(arch == Arch::kUnknown ? capture.arch : arch);
  if (platform == nullptr || !registers.has(platform->roles.pc)) return {};
  const MachineState leaf = state_of(registers, *platform);
  if (arch == Arch::kUnknown) return leaf_alone(leaf, code, StopReason::kNoRule);
  if (!leaf.has_sp()) return leaf_alone(leaf, code, StopReason::kLostRegister);
  return impl_->unwind(leaf, capture, code);
}

}  // namespace ringside::unwind
