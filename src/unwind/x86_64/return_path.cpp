#include "unwind/x86_64/return_path.h"

#include <algorithm>
#include <array>

namespace ringside::unwind::x86_64 {

using namespace wire::x86_64;

namespace {

constexpr int kMaxInstructions = 1000;
constexpr std::size_t kMaxDecoded = 100'000;

constexpr std::uint32_t kCallerSaved = 1u << kRax | 1u << kRdx | 1u << kRcx | 1u << kRsi |
                                       1u << kRdi | 1u << kR8 | 1u << kR9 | 1u << kR10 | 1u << kR11;

// Not canonical, so never an address; room for displacements between two of them.
constexpr std::uint64_t kUnknown = std::uint64_t{0x5eed} << 48;
constexpr std::uint64_t kUnknownStep = std::uint64_t{1} << 32;

bool is_unknown(std::uint64_t value) { return value >> 48 == kUnknown >> 48; }

// What makes a visit of an instruction another one.
std::uint64_t visit_key(const MachineState& state) {
  return state.pc().value * 0x9e3779b97f4a7c15u ^ state.get(kRsp);
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
  for (std::uint8_t reg = 0; reg < kRip; ++reg)
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
        Path taken = path;
        taken.state.set(kRip, image.to_guest(*instruction.target).value);
        open.push_back(std::move(taken));
      } else {
        const Outcome outcome = execute(instruction, path, memory);
        if (outcome == Outcome::kDone) return result_;
        if (outcome == Outcome::kDead) break;
      }
      path.state.set(kRip, next);
    }
  }
  if (!miss_) return std::nullopt;
  return ReturnPath{.kind = ReturnPath::Kind::kMissing, .miss = miss_};
}

std::uint64_t ReturnPathFinder::unknown() { return kUnknown + ++unknowns_ % 0x8000 * kUnknownStep; }

std::optional<std::uint64_t> ReturnPathFinder::load(const Path& path, GuestVirt at,
                                                    const StackMemory& memory) {
  for (auto write = path.writes.rbegin(); write != path.writes.rend(); ++write)
    if (write->at == at) return write->value;
  return is_unknown(at.value) ? std::nullopt : memory.read_u64(at);
}

void ReturnPathFinder::note_miss(const Path& path, GuestVirt at, const StackMemory& memory) {
  if (!miss_ && !is_unknown(at.value)) miss_ = memory.explain(at, path.state.slots[kRsp]);
}

void ReturnPathFinder::load_register(std::uint8_t reg, GuestVirt from, Path& path,
                                     const StackMemory& memory) {
  if (reg == kNoRegister) return;
  const auto value = load(path, from, memory);
  if (!value && reg == kRsp) note_miss(path, from, memory);
  if (reg == kRsp) path.stack_switched = true;
  path.state.set(reg, value ? *value : unknown(), value ? from : GuestVirt{});
}

ReturnPathFinder::Outcome ReturnPathFinder::execute(const Instruction& instruction, Path& path,
                                                    const StackMemory& memory) {
  MachineState& state = path.state;
  const std::uint8_t a = instruction.a;
  const std::uint8_t b = instruction.b;
  const auto offset = static_cast<std::uint64_t>(instruction.value);
  const auto lose = [&](std::uint32_t registers) {
    for (std::uint8_t reg = 0; reg < kRip; ++reg)
      if ((registers >> reg & 1u) != 0) state.set(reg, unknown());
  };
  switch (instruction.operation) {
    case Operation::kPush:
      state.values[kRsp] -= 8;
      path.writes.push_back(
          {state.sp(), a == kNoRegister ? unknown() : state.get(a) + (a == kRsp ? 8 : 0)});
      return Outcome::kGoOn;
    case Operation::kPop: {
      const GuestVirt from = state.sp();
      state.values[kRsp] += 8;
      load_register(a, from, path, memory);
      return Outcome::kGoOn;
    }
    case Operation::kLeave: {
      const GuestVirt frame{state.get(kRbp)};
      state.set(kRsp, frame.value + 8, state.slots[kRbp]);
      load_register(kRbp, frame, path, memory);
      return Outcome::kGoOn;
    }
    case Operation::kMove:
    case Operation::kLea:
      if (a == kRsp && b != kRsp) path.stack_switched = true;
      state.set(a, state.get(b) + offset, state.slots[b]);
      return Outcome::kGoOn;
    case Operation::kLoad:
      load_register(a, GuestVirt{state.get(b) + offset}, path, memory);
      return Outcome::kGoOn;
    case Operation::kStore:
      path.writes.push_back(
          {GuestVirt{state.get(b) + offset}, a == kNoRegister ? unknown() : state.get(a)});
      return Outcome::kGoOn;
    case Operation::kAdd:
      state.values[a] += offset;
      return Outcome::kGoOn;
    case Operation::kZero:
      state.set(a, 0);
      return Outcome::kGoOn;
    case Operation::kCall:
      lose(kCallerSaved);
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
  for (std::uint8_t reg = 0; reg < kRip; ++reg)
    if (is_unknown(state.get(reg))) state.forget(reg);
  const GuestVirt sp = state.sp();
  if (instruction.operation == Operation::kRet) {
    const auto address = load(path, sp, memory);
    if (!address || is_unknown(*address)) {
      note_miss(path, sp, memory);
      return Outcome::kDead;
    }
    if (*address != 0 && images_.find_code(GuestVirt{*address} - 1) == nullptr)
      return Outcome::kDead;
    result_.kind = ReturnPath::Kind::kReturn;
    state.set(kRip, *address, sp);
    state.set(kRsp, sp.value + 8 + static_cast<std::uint64_t>(instruction.value));
    state.exact = false;
    return Outcome::kDone;
  }
  std::array<std::uint64_t, 5> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto word = load(path, sp + i * 8, memory);
    if (!word) {
      note_miss(path, sp + i * 8, memory);
      return Outcome::kDead;
    }
    words[i] = *word;
  }
  result_.frame = {sp, words[0], words[1], words[2], words[3], words[4]};
  if (!is_plausible(result_.frame, memory.capture(), images_)) return Outcome::kDead;
  result_.kind = ReturnPath::Kind::kInterrupt;
  state.set(kRip, result_.frame.rip, sp);
  state.set(kRsp, result_.frame.rsp, result_.frame.rsp_slot());
  state.exact = true;
  return Outcome::kDone;
}

}  // namespace ringside::unwind::x86_64
