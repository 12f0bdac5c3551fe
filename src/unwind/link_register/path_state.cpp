#include "unwind/link_register/path_state.h"

#include <algorithm>

#include "arch/arch_info.h"

namespace ringside::unwind::link_register {
namespace {

Value plus(Value value, std::int64_t offset) {
  value.bits += static_cast<std::uint64_t>(offset);
  return value;
}

bool same_place(const Value& a, const Value& b) {
  return a.unknown == b.unknown && a.bits == b.bits;
}

}  // namespace

PathState::PathState(const MachineState& state, const arch::Registers& system, std::uint64_t known)
    : platform_(state.platform) {
  for (std::uint8_t reg = 0; reg < arch::kRegisterCount; ++reg) {
    Value& value = registers_[reg];
    if (state.has(reg))
      value = {0, state.get(reg), state.slots[reg]};
    else if (reg >= kTrackedRegisters && (known >> reg & 1u) != 0 && system.has(reg))
      value = {0, system.get(reg), {}};
    else
      value = make_unknown();
  }
}

Value PathState::get(std::uint8_t reg) const {
  return reg < arch::kRegisterCount ? registers_[reg] : Value{};
}

void PathState::set(std::uint8_t reg, const Value& value) {
  if (reg < arch::kRegisterCount) registers_[reg] = value;
}

void PathState::forget(std::uint32_t registers) {
  for (std::uint8_t reg = 0; reg < 32; ++reg)
    if ((registers >> reg & 1u) != 0) registers_[reg] = make_unknown();
}

// Linux' tracers are called from a function's first instructions, before it has saved the link
// register: on aarch64 that is in x9 meanwhile (`mov x9, x30; bl ftrace_caller`,
// arch/arm64/kernel/entry-ftrace.S), on riscv64 the call's own link is t0 (mcount-dyn.S).
bool PathState::keeps_link_register(const Instruction& call) const {
  const std::uint8_t link = platform_->roles.link;
  if ((call.writes >> link & 1u) == 0) return true;
  return copies_link_register(*platform_) &&
         same_place(registers_[kCopyOfLinkRegister], registers_[link]);
}

void PathState::return_from_call(const Instruction& call) {
  const arch::RegisterRoles& roles = platform_->roles;
  std::uint64_t kept = roles.callee_saved | std::uint64_t{1} << roles.sp;
  if (keeps_link_register(call)) kept |= std::uint64_t{1} << roles.link;
  for (std::uint8_t reg = 0; reg < 32; ++reg)
    if ((kept >> reg & 1u) == 0) registers_[reg] = make_unknown();
}

void PathState::store(const Value& at, const Value& value) {
  for (Word& word : words_)
    if (same_place(word.at, at)) {
      word.value = value;
      return;
    }
  words_.push_back({at, value});
}

Value PathState::load(const Value& at, const StackMemory& memory) {
  for (const Word& word : words_)
    if (same_place(word.at, at)) return word.value;
  if (at.known())
    if (const auto bits = memory.read_u64({at.bits})) return {0, *bits, {at.bits}};
  const Value value = make_unknown();
  if (at.known()) origins_.push_back({value.unknown, {at.bits}, at.slot});
  words_.push_back({at, value});
  return value;
}

void PathState::access(const Instruction& instruction, const StackMemory& memory) {
  const Value base = get(instruction.b);
  const Value at = plus(base, instruction.value);
  const Value next = plus(at, platform_->roles.pointer_size);
  if (instruction.operation == Operation::kStore) {
    if (instruction.a != kNoRegister) store(at, get(instruction.a));
    if (instruction.c != kNoRegister) store(next, get(instruction.c));
    if (instruction.step != 0) set(instruction.b, plus(base, instruction.step));
    return;
  }
  forget(instruction.writes);
  if (instruction.step != 0) set(instruction.b, plus(base, instruction.step));
  if (instruction.a != kNoRegister) set(instruction.a, load(at, memory));
  if (instruction.c != kNoRegister) set(instruction.c, load(next, memory));
}

void PathState::execute(const Instruction& instruction, const StackMemory& memory) {
  const Value b = get(instruction.b);
  const Value c = get(instruction.c);
  switch (instruction.operation) {
    case Operation::kSet:
      return set(instruction.a, {0, static_cast<std::uint64_t>(instruction.value), {}});
    case Operation::kAdd:
      return set(instruction.a, plus(b, instruction.value));
    case Operation::kAddRegisters:
      if (c.known()) return set(instruction.a, plus(b, static_cast<std::int64_t>(c.bits)));
      if (b.known()) return set(instruction.a, plus(c, static_cast<std::int64_t>(b.bits)));
      return set(instruction.a, make_unknown());
    case Operation::kSubtractRegisters:
      if (c.known()) return set(instruction.a, plus(b, -static_cast<std::int64_t>(c.bits)));
      if (b.unknown == c.unknown) return set(instruction.a, {0, b.bits - c.bits, {}});
      return set(instruction.a, make_unknown());
    case Operation::kLoad:
    case Operation::kStore:
      return access(instruction, memory);
    case Operation::kSystem: {
      const bool named = instruction.system != kNoRegister;
      const Value old = named ? get(instruction.system) : make_unknown();
      if (named && instruction.b != kNoRegister) set(instruction.system, b);
      return set(instruction.a, old);
    }
    case Operation::kCall:
      return return_from_call(instruction);
    default:
      return forget(instruction.writes);
  }
}

std::optional<Miss> PathState::miss(const Value& value, const StackMemory& memory) const {
  const auto origin = std::find_if(origins_.begin(), origins_.end(),
                                   [&](const Origin& o) { return o.unknown == value.unknown; });
  if (value.known() || origin == origins_.end()) return std::nullopt;
  return memory.explain(origin->at, origin->slot);
}

MachineState PathState::machine_state(std::uint64_t pc, GuestVirt pc_slot) const {
  MachineState state;
  state.platform = platform_;
  for (std::uint8_t reg = 0; reg < kTrackedRegisters; ++reg)
    if (registers_[reg].known()) state.set(reg, registers_[reg].bits, registers_[reg].slot);
  state.set(platform_->roles.pc, platform_->code_address(pc), pc_slot);
  return state;
}

}  // namespace ringside::unwind::link_register
