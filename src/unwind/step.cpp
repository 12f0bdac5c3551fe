#include "unwind/step.h"

#include "unwind/cfi/expression.h"

namespace ringside::unwind {
namespace {

using Kind = RegisterRule::Kind;
using wire::x86_64::kRip;
using wire::x86_64::kRsp;

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
  // Nothing: the register is lost.
  [[nodiscard]] std::optional<ValueOrStop> caller_register(std::size_t reg, Value cfa) const;
  [[nodiscard]] ValueOrStop load(GuestVirt at, GuestVirt pointer_slot) const;

  // Clang's epilogues do not say that a register has been popped (no DW_CFA_restore): its slot then
  // lies below the stack pointer, and may have been overwritten.
  [[nodiscard]] bool was_popped(std::size_t reg, GuestVirt slot) const {
    constexpr std::uint64_t kMaxEpilogue = 4096;
    return state_.exact && state_.has(reg) && state_.has(kRsp) && slot < state_.sp() &&
           state_.sp() - slot < kMaxEpilogue;
  }

  const Rule& rule_;
  const RuleContext& context_;
  const MachineState& state_;
  const StackMemory& memory_;
};

ValueOrStop Application::load(GuestVirt at, GuestVirt pointer_slot) const {
  if (const auto value = memory_.read_u64(at)) return Value{*value, at};
  const Miss miss = memory_.explain(at, pointer_slot);
  return Stop{miss.reason, miss.address, miss.link};
}

ValueOrStop Application::evaluate(ExpressionRef ref, std::optional<std::uint64_t> cfa) const {
  if (context_.section == nullptr) return Stop{StopReason::kNoRule, state_.pc()};
  const auto result =
      cfi::evaluate(context_.section->bytes.subspan(ref.offset, ref.size), state_, memory_, cfa,
                    context_.load_bias, context_.section->address_size);
  if (result) return Value{result->value, result->slot};
  if (!result.error().unreadable) return Stop{StopReason::kNoRule, state_.pc()};
  const Miss miss = memory_.explain(*result.error().unreadable, {});
  return Stop{miss.reason, miss.address, miss.link};
}

ValueOrStop Application::frame_address() const {
  switch (rule_.cfa.kind) {
    case CfaRule::Kind::kRegisterOffset:
      if (!state_.has(rule_.cfa.reg)) break;
      return Value{state_.get(rule_.cfa.reg) + static_cast<std::uint64_t>(rule_.cfa.offset),
                   state_.slots[rule_.cfa.reg]};
    case CfaRule::Kind::kExpression:
      return evaluate(rule_.cfa.expression, std::nullopt);
    case CfaRule::Kind::kNone:
      break;
  }
  return Stop{StopReason::kNoRule, state_.pc()};
}

std::optional<ValueOrStop> Application::caller_register(std::size_t reg, Value cfa) const {
  const RegisterRule& rule = rule_.registers[reg];
  const GuestVirt place{cfa.value + static_cast<std::uint64_t>(rule.offset)};
  switch (rule.kind) {
    case Kind::kUndefined:
      return std::nullopt;
    case Kind::kSame:
    case Kind::kRegister: {
      const std::size_t from = rule.kind == Kind::kSame ? reg : rule.reg;
      if (!state_.has(from)) return std::nullopt;
      return Value{state_.get(from), state_.slots[from]};
    }
    case Kind::kOffset:
      if (was_popped(reg, place)) return Value{state_.get(reg), state_.slots[reg]};
      return load(place, cfa.slot);
    case Kind::kValOffset:
      // The return address beside it has been read, so this stack is copied: no slot to name.
      return Value{place.value, {}};
    case Kind::kExpression: {
      const ValueOrStop at = evaluate(rule.expression, cfa.value);
      if (const auto* stop = std::get_if<Stop>(&at)) return *stop;
      const Value& value = std::get<Value>(at);
      return load({value.value}, value.slot);
    }
    case Kind::kValExpression:
      return evaluate(rule.expression, cfa.value);
  }
  return std::nullopt;
}

Step Application::run() {
  const ValueOrStop cfa_or_stop = frame_address();
  if (const auto* stop = std::get_if<Stop>(&cfa_or_stop)) return *stop;
  const Value cfa = std::get<Value>(cfa_or_stop);

  if (rule_.registers[rule_.return_register].kind == Kind::kUndefined)
    return Stop{StopReason::kEndOfStack, state_.pc()};

  Caller caller{.source = rule_.source, .interrupted = rule_.signal_frame};
  caller.state.exact = rule_.signal_frame;
  for (std::size_t reg = 0; reg < kTrackedRegisters; ++reg) {
    const auto result = caller_register(reg, cfa);
    if (!result) continue;
    if (const auto* value = std::get_if<Value>(&*result))
      caller.state.set(reg, value->value, value->slot);
    else if (reg == kRsp || reg == rule_.return_register)
      return std::get<Stop>(*result);  // others are lost, and may never be missed
  }
  if (!caller.state.has(rule_.return_register) || !caller.state.has(kRsp))
    return Stop{StopReason::kNoRule, state_.pc()};
  if (rule_.return_register != kRip)
    caller.state.set(kRip, caller.state.get(rule_.return_register),
                     caller.state.slots[rule_.return_register]);
  const Kind sp_rule = rule_.registers[kRsp].kind;
  caller.stack_switched =
      sp_rule != Kind::kValOffset || rule_.cfa.kind == CfaRule::Kind::kExpression;
  return caller;
}

}  // namespace

Step apply(const Rule& rule, const RuleContext& context, const MachineState& state,
           const StackMemory& memory) {
  return Application(rule, context, state, memory).run();
}

}  // namespace ringside::unwind
