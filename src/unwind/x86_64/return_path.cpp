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
  std::vector<Path> open;
  open.push_back({.state = state, .writes = {}});
  std::unordered_set<std::uint64_t> seen;
  for (int budget = kMaxInstructions; !open.empty() && budget > 0;) {
    Path path = std::move(open.back());
    open.pop_back();
    for (; budget > 0; --budget) {
      const GuestVirt pc = path.state.pc();
      if (!seen.insert(pc.value).second) break;
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

std::optional<std::uint64_t> ReturnPathFinder::load(const Path& path, GuestVirt at,
                                                    const StackMemory& memory) {
  for (auto write = path.writes.rbegin(); write != path.writes.rend(); ++write)
    if (write->at == at) return write->value;
  return memory.read_u64(at);
}

void ReturnPathFinder::note_miss(const Path& path, GuestVirt at, const StackMemory& memory) {
  if (!miss_) miss_ = memory.explain(at, path.state.slots[kRsp]);
}

void ReturnPathFinder::load_register(std::uint8_t reg, std::optional<GuestVirt> from, Path& path,
                                     const StackMemory& memory) {
  if (reg == kNoRegister) return;
  const auto value = from ? load(path, *from, memory) : std::nullopt;
  if (value) {
    path.state.set(reg, *value, *from);
    if (reg == kRsp) path.stack_switched = true;
    return;
  }
  path.state.forget(reg);
  if (reg == kRsp && from) note_miss(path, *from, memory);
}

ReturnPathFinder::Outcome ReturnPathFinder::execute(const Instruction& instruction, Path& path,
                                                    const StackMemory& memory) {
  MachineState& state = path.state;
  const std::uint8_t a = instruction.a;
  const std::uint8_t b = instruction.b;
  const auto offset = static_cast<std::uint64_t>(instruction.value);
  const auto place = [&]() -> std::optional<GuestVirt> {
    if (!state.has(b)) return std::nullopt;
    return GuestVirt{state.get(b) + offset};
  };
  const auto move = [&](std::optional<std::uint64_t> value, GuestVirt slot) {
    if (!value) return state.forget(a);
    if (a == kRsp) path.stack_switched = true;
    state.set(a, *value, slot);
  };
  const auto known = [&](std::uint8_t reg) -> std::optional<std::uint64_t> {
    return state.has(reg) ? std::optional(state.get(reg)) : std::nullopt;
  };
  switch (instruction.operation) {
    case Operation::kPush:
      if (!state.has(kRsp)) return Outcome::kGoOn;
      state.values[kRsp] -= 8;
      path.writes.push_back({state.sp(), a == kNoRegister ? std::nullopt : known(a)});
      return Outcome::kGoOn;
    case Operation::kPop: {
      const auto from = state.has(kRsp) ? std::optional(state.sp()) : std::nullopt;
      if (from) state.values[kRsp] += 8;
      load_register(a, from, path, memory);
      return Outcome::kGoOn;
    }
    case Operation::kLeave: {
      const auto frame = known(kRbp);
      if (!frame) {
        state.forget(kRsp);
        return Outcome::kGoOn;
      }
      state.set(kRsp, *frame + 8, state.slots[kRbp]);
      load_register(kRbp, GuestVirt{*frame}, path, memory);
      return Outcome::kGoOn;
    }
    case Operation::kMove:
      move(known(b), state.slots[b]);
      return Outcome::kGoOn;
    case Operation::kLea: {
      const auto at = place();
      move(at ? std::optional(at->value) : std::nullopt, state.slots[b]);
      return Outcome::kGoOn;
    }
    case Operation::kLoad:
      load_register(a, place(), path, memory);
      return Outcome::kGoOn;
    case Operation::kStore:
      if (const auto at = place())
        path.writes.push_back({*at, a == kNoRegister ? std::nullopt : known(a)});
      return Outcome::kGoOn;
    case Operation::kAdd:
      if (state.has(a)) state.values[a] += offset;
      return Outcome::kGoOn;
    case Operation::kZero:
      state.set(a, 0);
      return Outcome::kGoOn;
    case Operation::kCall:
      state.valid &= ~kCallerSaved;
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
      state.valid &= ~instruction.writes;
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
  if (!state.has(kRsp)) return Outcome::kDead;
  const GuestVirt sp = state.sp();
  if (instruction.operation == Operation::kRet) {
    const auto address = load(path, sp, memory);
    if (!address) {
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
