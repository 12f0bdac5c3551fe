#include "unwind/step.h"

#include <tuple>

#include "arch/arch_info.h"
#include "unwind/cfi/expression.h"

namespace ringside::unwind {
namespace {

using Kind = RegisterRule::Kind;

struct Value {
  std::uint64_t value;
  GuestVirt slot;
};
using ValueOrStop = std::variant<Value, Stop>;

class Application {
 public:
  Application(const Rule& rule, const RuleContext& context, const MachineState& state,
              const StackMemory& memory)
      : rule_(rule), context_(context), state_(state), memory_(memory) {}

  [[nodiscard]] Step run();

 private:
  [[nodiscard]] ValueOrStop frame_address() const;
  [[nodiscard]] ValueOrStop evaluate(ExpressionRef ref, std::optional<std::uint64_t> cfa) const;
  // Sets a register of the caller, or leaves it lost. A Stop: it is lost for that reason.
  [[nodiscard]] std::optional<Stop> set_register(std::size_t reg, Value cfa,
                                                 MachineState& caller) const;
  [[nodiscard]] std::optional<Stop> set_loaded(std::size_t reg, GuestVirt at,
                                               GuestVirt pointer_slot, MachineState& caller) const;
  void set_from(std::size_t from, std::size_t reg, MachineState& caller) const {
    if (state_.has(from)) caller.set(reg, state_.get(from), state_.slots[from]);
  }
  // A register that has no rule is lost, whatever it is.
  [[nodiscard]] bool is_lost(std::size_t reg) const {
    return rule_.registers[reg].kind == Kind::kUndefined && !keeps_unsaved_;
  }
  [[nodiscard]] ValueOrStop load(GuestVirt at, GuestVirt pointer_slot) const;
  [[nodiscard]] Stop missing(GuestVirt at, GuestVirt pointer_slot) const;
  [[nodiscard]] Caller user_code(Value cfa) const;
  [[nodiscard]] std::uint64_t bytes_of_own_words() const;

  // Clang's epilogues do not say that a register has been popped (no DW_CFA_restore): its slot then
  // lies below the stack pointer, and may have been overwritten. x86 entry code pushes registers
  // one by one: nothing below the vCPU's own stack pointer has been saved yet. (Elsewhere that need
  // not be one: Linux's vectors on arm64 add x0 to it, arch/arm64/kernel/entry.S, kernel_ventry.)
  [[nodiscard]] bool is_not_saved(std::size_t reg, GuestVirt slot) const {
    const auto leaf = memory_.captured_sp();
    const bool pushes =
        rule_.signal_frame && platform_.roles.link == arch::RegisterRoles::kNone && leaf;
    return state_.has(reg) && ((state_.exact && state_.has_sp() && is_below(slot, state_.sp())) ||
                               (pushes && is_below(slot, *leaf)));
  }
  [[nodiscard]] static bool is_below(GuestVirt slot, GuestVirt sp) {
    constexpr std::uint64_t kSameStack = 4096;
    return slot < sp && sp - slot < kSameStack;
  }

  // Entry code that is called to push registers for its caller, and keeps the return address in a
  // register meanwhile.
  [[nodiscard]] bool pushes_on_return() const {
    return rule_.registers[rule_.return_register].kind == Kind::kRegister &&
           platform_.roles.link == arch::RegisterRoles::kNone;
  }

  [[nodiscard]] std::uint64_t address(std::uint64_t base, std::int64_t offset) const {
    return (base + static_cast<std::uint64_t>(offset)) & platform_.address_mask();
  }

  const Rule& rule_;
  const RuleContext& context_;
  const MachineState& state_;
  const StackMemory& memory_;
  const arch::ArchInfo& platform_ = *state_.platform;
  // At an exact pc in code that hardware enters, a register that was not saved yet is the
  // interrupted code's; nothing was called that might have changed it.
  const bool keeps_unsaved_ =
      rule_.signal_frame && rule_.source == FrameSource::kCfi && state_.exact;
};

ValueOrStop Application::load(GuestVirt at, GuestVirt pointer_slot) const {
  if (const auto value = memory_.read_pointer(at)) return Value{*value, at};
  return missing(at, pointer_slot);
}

ValueOrStop Application::evaluate(ExpressionRef ref, std::optional<std::uint64_t> cfa) const {
  if (context_.section == nullptr) return Stop{StopReason::kNoRule, state_.pc()};
  const auto result =
      cfi::evaluate(context_.section->bytes.subspan(ref.offset, ref.size), state_, memory_, cfa,
                    context_.load_bias, context_.section->address_size);
  if (result) return Value{result->value, result->slot};
  if (!result.error().unreadable) return Stop{StopReason::kNoRule, state_.pc()};
  return missing(*result.error().unreadable, {});
}

Stop Application::missing(GuestVirt at, GuestVirt pointer_slot) const {
  const Miss miss = memory_.explain(at, pointer_slot, state_.position());
  return {miss.reason, miss.address, miss.link};
}

std::uint64_t Application::bytes_of_own_words() const {
  constexpr std::uint64_t kMaxWords = 64;  // the largest return stack that kernels fill has 32
  const std::uint64_t word = platform_.roles.pointer_size;
  std::uint64_t bytes = 0;
  while (rule_.own_code.size != 0 && bytes < kMaxWords * word) {
    const auto value = memory_.read_pointer(state_.sp() + bytes);
    if (!value || *value - rule_.own_code.start.value >= rule_.own_code.size) break;
    bytes += word;
  }
  return bytes;
}

ValueOrStop Application::frame_address() const {
  const CfaRule& cfa = rule_.cfa;
  switch (cfa.kind) {
    case CfaRule::Kind::kRegisterOffset:
    case CfaRule::Kind::kDereference: {
      if (!state_.has(cfa.reg)) return Stop{StopReason::kLostRegister, state_.pc()};
      std::uint64_t at = address(state_.get(cfa.reg), cfa.offset);
      if (cfa.reg == platform_.roles.sp) at += bytes_of_own_words();
      if (cfa.kind == CfaRule::Kind::kRegisterOffset) return Value{at, state_.slots[cfa.reg]};
      ValueOrStop loaded = load({at}, state_.slots[cfa.reg]);
      if (auto* value = std::get_if<Value>(&loaded))
        value->value = address(value->value, cfa.addend);
      return loaded;
    }
    case CfaRule::Kind::kExpression:
      return evaluate(cfa.expression, std::nullopt);
    case CfaRule::Kind::kNone:
      break;
  }
  return Stop{StopReason::kNoRule, state_.pc()};
}

std::optional<Stop> Application::set_loaded(std::size_t reg, GuestVirt at, GuestVirt pointer_slot,
                                            MachineState& caller) const {
  if (const auto value = memory_.read_pointer(at)) {
    caller.set(reg, *value, at);
    return std::nullopt;
  }
  return missing(at, pointer_slot);
}

std::optional<Stop> Application::set_register(std::size_t reg, Value cfa,
                                              MachineState& caller) const {
  const RegisterRule& rule = rule_.registers[reg];
  switch (rule.kind) {
    case Kind::kUndefined:
      if (keeps_unsaved_ && reg < platform_.roles.pc) set_from(reg, reg, caller);
      return std::nullopt;
    case Kind::kSame:
      set_from(reg, reg, caller);
      return std::nullopt;
    case Kind::kRegister:
      set_from(rule.reg, reg, caller);
      return std::nullopt;
    case Kind::kOffset: {
      const GuestVirt place{address(cfa.value, rule.offset)};
      if (!is_not_saved(reg, place)) return set_loaded(reg, place, cfa.slot, caller);
      set_from(reg, reg, caller);
      return std::nullopt;
    }
    case Kind::kAtRegister:
      if (!state_.has(rule.reg)) return std::nullopt;
      return set_loaded(reg, {address(state_.get(rule.reg), rule.offset)}, state_.slots[rule.reg],
                        caller);
    case Kind::kValOffset:
      // The return address beside it has been read, so this stack is copied: no slot to name.
      caller.set(reg, address(cfa.value, rule.offset));
      return std::nullopt;
    case Kind::kExpression:
    case Kind::kValExpression:
      break;
  }
  const ValueOrStop result = evaluate(rule.expression, cfa.value);
  if (const auto* stop = std::get_if<Stop>(&result)) return *stop;
  const Value& value = std::get<Value>(result);
  if (rule.kind == Kind::kExpression) return set_loaded(reg, {value.value}, value.slot, caller);
  caller.set(reg, value.value, value.slot);
  return std::nullopt;
}

Caller Application::user_code(Value cfa) const {
  Caller caller{.source = rule_.source, .interrupted = true, .is_user = true};
  caller.state.platform = &platform_;
  caller.state.exact = true;
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg)
    (void)set_register(reg, cfa, caller.state);
  const std::uint8_t from = rule_.return_register;
  if (caller.state.has(from))
    caller.state.set(platform_.roles.pc, platform_.code_address(caller.state.get(from)),
                     caller.state.slots[from]);
  return caller;
}

Step Application::run() {
  if (rule_.ends)
    return Stop{rule_.from_user ? StopReason::kUserMode : StopReason::kEndOfStack, state_.pc()};
  const ValueOrStop cfa_or_stop = frame_address();
  if (const auto* stop = std::get_if<Stop>(&cfa_or_stop)) return *stop;
  const Value cfa = std::get<Value>(cfa_or_stop);
  const auto [pc, sp, fp, link] =
      std::tuple(platform_.roles.pc, platform_.roles.sp, platform_.roles.fp, platform_.roles.link);

  if (rule_.registers[rule_.return_register].kind == Kind::kUndefined)
    return Stop{StopReason::kEndOfStack, state_.pc()};
  const auto offset = context_.in_user_code ? std::nullopt : saved_status(rule_, platform_);
  if (offset) {
    // Without it the saved pc may be taken for the kernel's.
    const ValueOrStop status = load({address(cfa.value, *offset)}, cfa.slot);
    if (const auto* stop = std::get_if<Stop>(&status)) return *stop;
    if (platform_.saved_mode.is_user(std::get<Value>(status).value)) return user_code(cfa);
  }

  Caller caller{.source = rule_.source, .interrupted = rule_.signal_frame};
  caller.state.platform = &platform_;
  caller.state.exact = rule_.signal_frame;
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg) {
    if (is_lost(reg)) continue;
    const auto stop = set_register(reg, cfa, caller.state);
    // Others are lost, and may never be missed.
    if (stop && (reg == sp || reg == rule_.return_register)) return *stop;
  }
  if (!caller.state.has(rule_.return_register)) return Stop{StopReason::kLostRegister, state_.pc()};
  if (!caller.state.has_sp() && !caller.state.has(fp))
    return Stop{StopReason::kNoRule, state_.pc()};
  caller.state.set(pc, platform_.code_address(caller.state.get(rule_.return_register)),
                   caller.state.slots[rule_.return_register]);
  // The value that a called function left in the link register is not the caller's own return
  // address.
  if (link != arch::RegisterRoles::kNone && !rule_.signal_frame) caller.state.forget(link);
  const Kind sp_rule = rule_.registers[sp].kind;
  caller.stack_switched = sp_rule == Kind::kOffset || sp_rule == Kind::kExpression ||
                          rule_.cfa.kind == CfaRule::Kind::kExpression ||
                          rule_.cfa.kind == CfaRule::Kind::kDereference || pushes_on_return();
  return caller;
}

}  // namespace

std::optional<std::int64_t> saved_status(const Rule& rule, const arch::ArchInfo& platform) {
  if (rule.status_offset || !rule.signal_frame) return rule.status_offset;
  const bool is_x86 = platform.is_x86;
  const RegisterRule& pc = rule.registers[rule.return_register];
  if (!is_x86 || pc.kind != Kind::kOffset) return std::nullopt;
  return pc.offset + platform.roles.pointer_size;
}

Step apply(const Rule& rule, const RuleContext& context, const MachineState& state,
           const StackMemory& memory) {
  return Application(rule, context, state, memory).run();
}

}  // namespace ringside::unwind
