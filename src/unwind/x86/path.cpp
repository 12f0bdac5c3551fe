#include "unwind/x86/path.h"

#include <array>

#include "arch/arch_info.h"

namespace ringside::unwind::x86 {
namespace {

constexpr std::uint64_t kMaxCopiedWords = 64;

std::optional<std::uint64_t> apply_alu(Alu alu, std::uint64_t left, std::uint64_t right) {
  switch (alu) {
    case Alu::kAdd:
      return left + right;
    case Alu::kAnd:
    case Alu::kTest:
      return left & right;
    case Alu::kOr:
      return left | right;
    case Alu::kXor:
      return left ^ right;
    case Alu::kSubtract:
    case Alu::kCompare:
      return left - right;
    case Alu::kShiftRight:
      return left >> (right & 63);
  }
  return std::nullopt;
}

std::uint64_t general_registers(const arch::RegisterRoles& roles) {
  return (std::uint64_t{1} << roles.pc) - 1;
}

std::uint64_t caller_saved(const arch::RegisterRoles& roles) {
  return general_registers(roles) & ~roles.callee_saved & ~(std::uint64_t{1} << roles.sp);
}

}  // namespace

std::optional<bool> Path::takes(Condition condition) const {
  if (!flags) return std::nullopt;
  switch (condition) {
    case Condition::kZero:
      return flags->zero;
    case Condition::kNotZero:
      return !flags->zero;
    case Condition::kCarry:
      return flags->carry;
    case Condition::kNotCarry:
      return !flags->carry;
    case Condition::kUnknown:
      break;
  }
  return std::nullopt;
}

std::uint64_t Execution::add(std::uint64_t value, std::uint64_t offset) const {
  return Unknowns::is_unknown(value) ? value + offset : (value + offset) & platform_.address_mask();
}

std::optional<std::uint64_t> Execution::load(const Path& path, GuestVirt at) {
  for (auto write = path.writes.rbegin(); write != path.writes.rend(); ++write)
    if (write->at == at) return write->value;
  return memory_.load(at, unknowns_);
}

void Execution::note_missing(const Path& path, GuestVirt at) {
  if (!missing_ && !Unknowns::is_unknown(at.value)) missing_ = {at, path.state.slots[roles_.sp]};
}

void Execution::load_register(std::uint8_t reg, GuestVirt from, Path& path) {
  if (reg == kNoRegister) return;
  const auto value = load(path, from);
  if (!value && reg == roles_.sp) note_missing(path, from);
  if (reg == roles_.sp) path.stack_switched = true;
  path.state.set(reg, value ? *value : unknown(), value ? from : GuestVirt{});
}

std::optional<std::uint64_t> Execution::word_of(const Operand& operand, const Path& path) {
  const auto value = static_cast<std::uint64_t>(operand.value);
  switch (operand.kind) {
    case Operand::Kind::kNone:
      return std::nullopt;
    case Operand::Kind::kImmediate:
      return value & platform_.address_mask();
    case Operand::Kind::kRegister:
      return path.state.get(operand.reg);
    case Operand::Kind::kMemory: {
      const auto word = load(path, GuestVirt{add(path.state.get(operand.reg), value)});
      if (!word || operand.size >= roles_.pointer_size) return word;
      if (Unknowns::is_unknown(*word)) return std::nullopt;
      return *word & ((std::uint64_t{1} << 8 * operand.size) - 1);
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Execution::value_of(const Operand& operand, const Path& path) {
  const auto word = word_of(operand, path);
  return word && !Unknowns::is_unknown(*word) ? word : std::nullopt;
}

std::uint64_t Execution::stored(const Instruction& instruction, const Path& path) {
  if (instruction.a != kNoRegister) return path.state.get(instruction.a);
  const auto word = word_of(instruction.from, path);
  return word ? *word : unknown();
}

void Execution::lose(std::uint64_t registers, Path& path) {
  for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
    if ((registers >> reg & 1u) != 0) path.state.set(reg, unknowns_.make(Unknowns::Kind::kLost));
}

void Execution::push(std::uint64_t value, Path& path) {
  path.state.values[roles_.sp] =
      add(path.state.get(roles_.sp), 0 - std::uint64_t{roles_.pointer_size});
  path.writes.push_back({path.state.sp(), value});
}

void Execution::calculate(const Instruction& instruction, Path& path) {
  const Operand& to = instruction.to;
  const auto left = value_of(to, path);
  const auto right = value_of(instruction.from, path);
  path.flags.reset();
  std::optional<std::uint64_t> result;
  if (left && right) {
    const std::uint64_t mask =
        to.size >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * to.size) - 1;
    result = apply_alu(instruction.alu, *left & mask, *right & mask);
    if (result) *result &= mask;
    const bool borrows = instruction.alu == Alu::kSubtract || instruction.alu == Alu::kCompare;
    const bool carry = borrows ? (*left & mask) < (*right & mask)
                               : instruction.alu == Alu::kAdd && result && *result < (*left & mask);
    if (result && instruction.alu != Alu::kShiftRight)
      path.flags = Path::Flags{.zero = *result == 0, .carry = carry};
  }
  if (instruction.alu == Alu::kCompare || instruction.alu == Alu::kTest) return;
  if (to.kind == Operand::Kind::kRegister) {
    path.state.set(to.reg, result ? *result : unknown());
  } else if (to.kind == Operand::Kind::kMemory && to.size == roles_.pointer_size) {
    const GuestVirt at{add(path.state.get(to.reg), static_cast<std::uint64_t>(to.value))};
    path.writes.push_back({at, result ? *result : unknown()});
  }
}

void Execution::copy_words(Path& path) {
  const bool is_64_bit = platform_.id == Arch::kX86_64;
  using Numbers = std::array<std::uint8_t, 3>;
  const auto [count, from, to] =
      is_64_bit ? Numbers{arch::x86_64::kRcx, arch::x86_64::kRsi, arch::x86_64::kRdi}
                : Numbers{arch::i386::kEcx, arch::i386::kEsi, arch::i386::kEdi};
  MachineState& state = path.state;
  const std::uint64_t words = state.get(count);
  if (words > kMaxCopiedWords) {
    for (const std::uint8_t reg : {count, from, to}) state.set(reg, unknown());
    return;
  }
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t offset = i * roles_.pointer_size;
    const auto word = load(path, {add(state.get(from), offset)});
    path.writes.push_back({{add(state.get(to), offset)}, word ? *word : unknown()});
  }
  state.set(from, add(state.get(from), words * roles_.pointer_size));
  state.set(to, add(state.get(to), words * roles_.pointer_size));
  state.set(count, 0);
}

bool Execution::stack_operation(const Instruction& instruction, Path& path) {
  MachineState& state = path.state;
  const std::uint64_t word = roles_.pointer_size;
  const std::uint8_t sp = roles_.sp;
  switch (instruction.operation) {
    case Operation::kPush:
      push(stored(instruction, path), path);
      return true;
    case Operation::kPop: {
      const GuestVirt from = state.sp();
      state.values[sp] = add(state.get(sp), word);
      load_register(instruction.a, from, path);
      return true;
    }
    case Operation::kPushAll: {
      const std::uint64_t before = state.get(sp);
      for (const std::uint8_t reg : kPushAllOrder) push(reg == sp ? before : state.get(reg), path);
      return true;
    }
    case Operation::kPopAll:
      for (auto reg = kPushAllOrder.rbegin(); reg != kPushAllOrder.rend(); ++reg) {
        const GuestVirt from = state.sp();
        state.values[sp] = add(state.get(sp), word);
        if (*reg != sp) load_register(*reg, from, path);
      }
      return true;
    case Operation::kLeave: {
      const GuestVirt frame{state.get(roles_.fp)};
      state.set(sp, add(frame.value, word), state.slots[roles_.fp]);
      load_register(roles_.fp, frame, path);
      return true;
    }
    case Operation::kStore: {
      const GuestVirt at{
          add(state.get(instruction.b), static_cast<std::uint64_t>(instruction.value))};
      path.writes.push_back({at, stored(instruction, path)});
      return true;
    }
    default:
      return false;
  }
}

Execution::Outcome Execution::carry_out(const Instruction& instruction, Path& path) {
  if (stack_operation(instruction, path)) return Outcome::kGoOn;
  MachineState& state = path.state;
  const std::uint8_t a = instruction.a;
  const std::uint8_t b = instruction.b;
  const auto offset = static_cast<std::uint64_t>(instruction.value);
  if (instruction.writes_flags && instruction.operation != Operation::kArithmetic)
    path.flags.reset();
  switch (instruction.operation) {
    case Operation::kMove:
    case Operation::kLea:
      if (a == roles_.sp && b != roles_.sp) path.stack_switched = true;
      state.set(a, add(state.get(b), offset), state.slots[b]);
      return Outcome::kGoOn;
    case Operation::kExchange:
      if ((a == roles_.sp) != (b == roles_.sp)) path.stack_switched = true;
      std::swap(state.values[a], state.values[b]);
      std::swap(state.slots[a], state.slots[b]);
      return Outcome::kGoOn;
    case Operation::kLoad:
      load_register(a, GuestVirt{add(state.get(b), offset)}, path);
      return Outcome::kGoOn;
    case Operation::kAdd:
      state.values[a] = add(state.get(a), offset);
      return Outcome::kGoOn;
    case Operation::kZero:
      state.set(a, 0);
      return Outcome::kGoOn;
    case Operation::kSet:
      state.set(a, offset & platform_.address_mask());
      return Outcome::kGoOn;
    case Operation::kArithmetic:
      calculate(instruction, path);
      return Outcome::kGoOn;
    case Operation::kCopyWords:
      copy_words(path);
      return Outcome::kGoOn;
    case Operation::kCall:
      path.flags.reset();
      lose(caller_saved(roles_), path);
      return Outcome::kGoOn;
    case Operation::kRet:
    case Operation::kInterruptRet:
    case Operation::kSystemRet:
      return Outcome::kLeaves;
    case Operation::kJumpIndirect:
    case Operation::kTrap:
    case Operation::kStop:
      return Outcome::kDead;
    default:
      lose(instruction.writes, path);
      return Outcome::kGoOn;
  }
}

}  // namespace ringside::unwind::x86
