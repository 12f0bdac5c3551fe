#include "unwind/x86/return_path.h"

#include <algorithm>
#include <array>

namespace ringside::unwind::x86 {

namespace {

constexpr int kMaxInstructions = 1000;
constexpr std::size_t kMaxDecoded = 100'000;
constexpr std::uint64_t kMaxCopiedWords = 64;

// Not canonical, so never an address; room for displacements between two of them.
constexpr std::uint64_t kUnknown = std::uint64_t{0x5eed} << 48;
constexpr std::uint64_t kUnknownStep = std::uint64_t{1} << 32;

bool is_unknown(std::uint64_t value) { return value >> 48 == kUnknown >> 48; }

// What makes a visit of an instruction another one.
std::uint64_t visit_key(const MachineState& state) {
  return state.pc().value * 0x9e3779b97f4a7c15u ^ state.sp().value;
}

bool is_met(Condition condition, const auto& flags) {
  switch (condition) {
    case Condition::kZero:
      return flags.zero;
    case Condition::kNotZero:
      return !flags.zero;
    case Condition::kCarry:
      return flags.carry;
    case Condition::kNotCarry:
      return !flags.carry;
    case Condition::kUnknown:
      break;
  }
  return false;
}

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

std::uint64_t general_registers(const wire::RegisterRoles& roles) {
  return (std::uint64_t{1} << roles.pc) - 1;
}

std::uint64_t caller_saved(const wire::RegisterRoles& roles) {
  return general_registers(roles) & ~roles.callee_saved & ~(std::uint64_t{1} << roles.sp);
}

}  // namespace

const Instruction& ReturnPathFinder::decode(const elf::Image& image, GuestVirt at) {
  if (decoded_.size() > kMaxDecoded) decoded_.clear();
  const auto [found, is_new] = decoded_.try_emplace(at.value);
  if (is_new) {
    const ImageAddr address = image.to_image(at);
    found->second = decoder_.decode(image.file->bytes_at(address, 16), address);
    if (!image.file->is_code(address)) found->second.operation = Operation::kStop;
  }
  return found->second;
}

std::optional<ReturnPath> ReturnPathFinder::find(const elf::Image& image, const MachineState& state,
                                                 const StackMemory& memory) {
  miss_.reset();
  unknowns_ = 0;
  std::vector<Path> open;
  open.push_back({.state = state, .writes = {}});
  for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
    if (!state.has(reg)) open.back().state.set(reg, unknown());
  std::unordered_set<std::uint64_t> seen;
  for (int budget = kMaxInstructions; !open.empty() && budget > 0;) {
    Path path = std::move(open.back());
    open.pop_back();
    for (; budget > 0; --budget) {
      const GuestVirt pc = path.state.pc();
      if (!seen.insert(visit_key(path.state)).second) break;
      const Instruction& instruction = decode(image, pc);
      std::uint64_t next = pc.value + instruction.size;
      if (instruction.operation == Operation::kJump) {
        next = image.to_guest(*instruction.target).value;
      } else if (instruction.operation == Operation::kBranch) {
        Path other = path;
        const std::uint64_t target = image.to_guest(*instruction.target).value;
        const bool taken = path.flags && is_met(instruction.condition, *path.flags);
        other.state.set(roles_.pc, taken ? next : target);
        if (taken) next = target;
        open.push_back(std::move(other));
      } else {
        const Outcome outcome = execute(instruction, path, memory);
        if (outcome == Outcome::kDone) return result_;
        if (outcome == Outcome::kDead) break;
      }
      path.state.set(roles_.pc, next);
    }
  }
  if (!miss_) return std::nullopt;
  return ReturnPath{.kind = ReturnPath::Kind::kMissing, .miss = miss_};
}

std::uint64_t ReturnPathFinder::unknown() { return kUnknown + ++unknowns_ % 0x8000 * kUnknownStep; }

std::uint64_t ReturnPathFinder::add(std::uint64_t value, std::uint64_t offset) const {
  return is_unknown(value) ? value + offset : (value + offset) & platform_.address_mask;
}

std::optional<std::uint64_t> ReturnPathFinder::load(const Path& path, GuestVirt at,
                                                    const StackMemory& memory) {
  for (auto write = path.writes.rbegin(); write != path.writes.rend(); ++write)
    if (write->at == at) return write->value;
  return is_unknown(at.value) ? std::nullopt : memory.read_pointer(at);
}

void ReturnPathFinder::note_miss(const Path& path, GuestVirt at, const StackMemory& memory) {
  if (!miss_ && !is_unknown(at.value)) miss_ = memory.explain(at, path.state.slots[roles_.sp]);
}

void ReturnPathFinder::load_register(std::uint8_t reg, GuestVirt from, Path& path,
                                     const StackMemory& memory) {
  if (reg == kNoRegister) return;
  const auto value = load(path, from, memory);
  if (!value && reg == roles_.sp) note_miss(path, from, memory);
  if (reg == roles_.sp) path.stack_switched = true;
  path.state.set(reg, value ? *value : unknown(), value ? from : GuestVirt{});
}

// Nothing where it is not known, or not a whole word of it.
std::optional<std::uint64_t> ReturnPathFinder::value_of(const Operand& operand, const Path& path,
                                                        const StackMemory& memory) {
  std::optional<std::uint64_t> value;
  switch (operand.kind) {
    case Operand::Kind::kNone:
      return std::nullopt;
    case Operand::Kind::kImmediate:
      return static_cast<std::uint64_t>(operand.value) & platform_.address_mask;
    case Operand::Kind::kRegister:
      value = path.state.get(operand.reg);
      break;
    case Operand::Kind::kMemory: {
      const GuestVirt at{
          add(path.state.get(operand.reg), static_cast<std::uint64_t>(operand.value))};
      value = load(path, at, memory);
      if (value && !is_unknown(*value) && operand.size < roles_.pointer_size)
        value = *value & ((std::uint64_t{1} << 8 * operand.size) - 1);
      break;
    }
  }
  return value && !is_unknown(*value) ? value : std::nullopt;
}

void ReturnPathFinder::push(std::uint64_t value, Path& path) {
  path.state.values[roles_.sp] =
      add(path.state.get(roles_.sp), 0 - std::uint64_t{roles_.pointer_size});
  path.writes.push_back({path.state.sp(), value});
}

void ReturnPathFinder::calculate(const Instruction& instruction, Path& path,
                                 const StackMemory& memory) {
  const Operand& to = instruction.to;
  const auto left = value_of(to, path, memory);
  const auto right = value_of(instruction.from, path, memory);
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
      path.flags = Flags{.zero = *result == 0, .carry = carry};
  }
  if (instruction.alu == Alu::kCompare || instruction.alu == Alu::kTest) return;
  if (to.kind == Operand::Kind::kRegister) {
    path.state.set(to.reg, result ? *result : unknown());
  } else if (to.kind == Operand::Kind::kMemory && to.size == roles_.pointer_size) {
    const GuestVirt at{add(path.state.get(to.reg), static_cast<std::uint64_t>(to.value))};
    path.writes.push_back({at, result ? *result : unknown()});
  }
}

void ReturnPathFinder::copy_words(Path& path, const StackMemory& memory) {
  const bool is_64_bit = platform_.arch == Arch::kX86_64;
  using Numbers = std::array<std::uint8_t, 3>;
  const auto [count, from, to] =
      is_64_bit ? Numbers{wire::x86_64::kRcx, wire::x86_64::kRsi, wire::x86_64::kRdi}
                : Numbers{wire::i386::kEcx, wire::i386::kEsi, wire::i386::kEdi};
  MachineState& state = path.state;
  const std::uint64_t words = state.get(count);
  if (words > kMaxCopiedWords) {
    for (const std::uint8_t reg : {count, from, to}) state.set(reg, unknown());
    return;
  }
  for (std::uint64_t i = 0; i < words; ++i) {
    const std::uint64_t offset = i * roles_.pointer_size;
    const auto word = load(path, {add(state.get(from), offset)}, memory);
    path.writes.push_back({{add(state.get(to), offset)}, word ? *word : unknown()});
  }
  state.set(from, add(state.get(from), words * roles_.pointer_size));
  state.set(to, add(state.get(to), words * roles_.pointer_size));
  state.set(count, 0);
}

bool ReturnPathFinder::stack_operation(const Instruction& instruction, Path& path,
                                       const StackMemory& memory) {
  MachineState& state = path.state;
  const std::uint64_t word = roles_.pointer_size;
  const std::uint8_t sp = roles_.sp;
  switch (instruction.operation) {
    case Operation::kPush: {
      const auto value = value_of(instruction.from, path, memory);
      const std::uint8_t a = instruction.a;
      push(a != kNoRegister ? state.get(a) : value ? *value : unknown(), path);
      return true;
    }
    case Operation::kPop: {
      const GuestVirt from = state.sp();
      state.values[sp] = add(state.get(sp), word);
      load_register(instruction.a, from, path, memory);
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
        if (*reg != sp) load_register(*reg, from, path, memory);
      }
      return true;
    case Operation::kLeave: {
      const GuestVirt frame{state.get(roles_.fp)};
      state.set(sp, add(frame.value, word), state.slots[roles_.fp]);
      load_register(roles_.fp, frame, path, memory);
      return true;
    }
    case Operation::kStore: {
      const GuestVirt at{
          add(state.get(instruction.b), static_cast<std::uint64_t>(instruction.value))};
      const auto value = value_of(instruction.from, path, memory);
      const std::uint8_t a = instruction.a;
      path.writes.push_back({at, a != kNoRegister ? state.get(a) : value ? *value : unknown()});
      return true;
    }
    default:
      return false;
  }
}

ReturnPathFinder::Outcome ReturnPathFinder::execute(const Instruction& instruction, Path& path,
                                                    const StackMemory& memory) {
  if (stack_operation(instruction, path, memory)) return Outcome::kGoOn;
  MachineState& state = path.state;
  const std::uint8_t a = instruction.a;
  const std::uint8_t b = instruction.b;
  const auto offset = static_cast<std::uint64_t>(instruction.value);
  const auto lose = [&](std::uint64_t registers) {
    for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
      if ((registers >> reg & 1u) != 0) state.set(reg, unknown());
  };
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
      load_register(a, GuestVirt{add(state.get(b), offset)}, path, memory);
      return Outcome::kGoOn;
    case Operation::kAdd:
      state.values[a] = add(state.get(a), offset);
      return Outcome::kGoOn;
    case Operation::kZero:
      state.set(a, 0);
      return Outcome::kGoOn;
    case Operation::kSet:
      state.set(a, offset & platform_.address_mask);
      return Outcome::kGoOn;
    case Operation::kArithmetic:
      calculate(instruction, path, memory);
      return Outcome::kGoOn;
    case Operation::kCopyWords:
      copy_words(path, memory);
      return Outcome::kGoOn;
    case Operation::kCall:
      path.flags.reset();
      lose(caller_saved(roles_));
      return Outcome::kGoOn;
    case Operation::kRet:
    case Operation::kInterruptRet:
    case Operation::kSystemRet:
      return finish(instruction, path, memory);
    case Operation::kJumpIndirect:
    case Operation::kTrap:
    case Operation::kStop:
      return Outcome::kDead;
    default:
      lose(instruction.writes);
      return Outcome::kGoOn;
  }
}

ReturnPathFinder::Outcome ReturnPathFinder::finish(const Instruction& instruction, const Path& path,
                                                   const StackMemory& memory) {
  result_ = {.state = path.state, .stack_switched = path.stack_switched};
  MachineState& state = result_.state;
  if (instruction.operation == Operation::kSystemRet) {
    result_.kind = ReturnPath::Kind::kSystem;
    return Outcome::kDone;
  }
  for (std::uint8_t reg = 0; reg < roles_.pc; ++reg)
    if (is_unknown(state.get(reg))) state.forget(reg);
  if (instruction.operation == Operation::kInterruptRet) return finish_interrupt(path, memory);
  const GuestVirt sp = path.state.sp();
  const auto address = load(path, sp, memory);
  if (!address || is_unknown(*address)) {
    note_miss(path, sp, memory);
    return Outcome::kDead;
  }
  if (*address != 0 && images_.find_code(GuestVirt{*address} - 1) == nullptr) return Outcome::kDead;
  result_.kind = ReturnPath::Kind::kReturn;
  state.set(roles_.pc, *address, sp);
  state.set(roles_.sp,
            add(sp.value, roles_.pointer_size + static_cast<std::uint64_t>(instruction.value)));
  state.exact = false;
  return Outcome::kDone;
}

ReturnPathFinder::Outcome ReturnPathFinder::finish_interrupt(const Path& path,
                                                             const StackMemory& memory) {
  const GuestVirt sp = path.state.sp();
  const auto frame =
      make_interrupt_frame(sp, platform_, [&](std::uint64_t i) -> std::optional<std::uint64_t> {
        const GuestVirt at{add(sp.value, i * roles_.pointer_size)};
        const auto word = load(path, at, memory);
        if (!word) note_miss(path, at, memory);
        return word;
      });
  if (!frame || !is_plausible(*frame, memory.capture(), images_)) return Outcome::kDead;
  MachineState& state = result_.state;
  result_.frame = *frame;
  result_.kind = ReturnPath::Kind::kInterrupt;
  state.set(roles_.pc, frame->ip, sp);
  state.set(roles_.sp, frame->sp, frame->sp_slot);
  state.exact = true;
  return Outcome::kDone;
}

}  // namespace ringside::unwind::x86
