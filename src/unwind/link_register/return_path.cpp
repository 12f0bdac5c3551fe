#include "unwind/link_register/return_path.h"

#include <utility>

#include "arch/arch_info.h"
#include "unwind/link_register/call_site.h"

namespace ringside::unwind::link_register {
namespace {

constexpr std::size_t kMaxInstructions = 2000;
constexpr std::size_t kMaxBranches = 64;
constexpr std::size_t kMaxDecoded = 65536;

// The system registers whose values in the capture this frame's code has. Those that an exception
// sets stay for as long as it is handled; others, frames above have long overwritten.
std::uint64_t system_registers(const MachineState& state, const StackMemory& memory) {
  const arch::Registers& captured = memory.capture().registers;
  const std::uint8_t sp = state.platform->roles.sp;
  const bool first = state.exact && captured.has(sp) && state.has_sp() &&
                     captured.get(sp) == state.get(sp) &&
                     captured.get(state.platform->roles.pc) == state.pc().value;
  if (first) return ~std::uint64_t{0};
  const auto [pc, status] = state.platform->exception;
  return state.has_exception ? std::uint64_t{1} << pc | std::uint64_t{1} << status : 0;
}

}  // namespace

const Instruction* ReturnPathFinder::decode(GuestVirt at) {
  if (decoded_.size() >= kMaxDecoded) decoded_.clear();
  const auto [found, added] = decoded_.try_emplace(at.value);
  if (added) {
    constexpr std::size_t kLongest = 4;
    const elf::Image* image = images_.find_code(at);
    const Bytes bytes =
        image == nullptr ? Bytes{} : image->file->bytes_at(image->to_image(at), kLongest);
    found->second = decoder_.decode(bytes, {at.value});
  }
  return &found->second;
}

bool ReturnPathFinder::never_returns(GuestVirt pc) {
  constexpr std::size_t kMostInstructions = 64;
  std::vector<GuestVirt> open = {pc};
  for (visited_.clear(); !open.empty();) {
    GuestVirt at = open.back();
    open.pop_back();
    while (visited_.insert(at.value).second) {
      if (visited_.size() > kMostInstructions) return false;
      const Instruction& instruction = *decode(at);
      switch (instruction.operation) {
        case Operation::kRet:
        case Operation::kInterruptRet:
        case Operation::kJumpIndirect:
          return false;
        case Operation::kTrap:
        case Operation::kStop:
          continue;  // visited: the way ends
        case Operation::kJump:
          at = {instruction.target->value};
          continue;
        case Operation::kBranch:
          open.push_back({instruction.target->value});
          break;
        default:
          break;
      }
      at = at + instruction.size;
    }
  }
  return true;
}

std::optional<ReturnPath> ReturnPathFinder::find(const MachineState& state,
                                                 const StackMemory& memory) {
  visited_.clear();
  others_.clear();
  miss_.reset();
  const PathState start(state, memory.capture().registers, system_registers(state, memory));
  others_.push_back({state.pc(), start, {}});
  while (!others_.empty()) {
    Way way = std::move(others_.back());
    others_.pop_back();
    if (auto path = follow(std::move(way), memory)) return path;
  }
  if (!miss_) return std::nullopt;
  return ReturnPath{.kind = ReturnPath::Kind::kMissing, .miss = miss_};
}

std::optional<ReturnPath> ReturnPathFinder::follow(Way way, const StackMemory& memory) {
  while (visited_.size() < kMaxInstructions && visited_.insert(way.at.value).second) {
    const Instruction& instruction = *decode(way.at);
    const GuestVirt next = way.at + instruction.size;
    // Targets are guest addresses here: that is what the decoder was given.
    const auto target = [&] { return GuestVirt{instruction.target->value}; };
    switch (instruction.operation) {
      case Operation::kRet:
        if (const auto to = jumps_to(instruction, way.state)) {
          way.at = *to;
          continue;
        }
        [[fallthrough]];
      case Operation::kInterruptRet:
        return finish(instruction, way.state, memory);
      case Operation::kStop:
        return std::nullopt;
      // Known where it is a far jump: a tail call. All cases of a switch leave the function.
      case Operation::kJumpIndirect: {
        const Value to = way.state.get(instruction.b);
        if (to.known())
          way.at = {to.bits + static_cast<std::uint64_t>(instruction.value)};
        else if (way.jump_table == next)
          way.at = next;
        else
          return std::nullopt;
        continue;
      }
      case Operation::kJump:
        way.at = target();
        continue;
      case Operation::kBranch:
        if (others_.size() < kMaxBranches) others_.push_back({target(), way.state, way.jump_table});
        break;
      case Operation::kSet:
        way.jump_table = GuestVirt{static_cast<std::uint64_t>(instruction.value)};
        [[fallthrough]];
      default:
        way.state.execute(instruction, memory);
    }
    way.at = next;
  }
  return std::nullopt;
}

// riscv64 returns to its second link register too, t0 (psABI, "Millicode"), and code jumps to what
// it has loaded there.
std::optional<GuestVirt> ReturnPathFinder::jumps_to(const Instruction& instruction,
                                                    const PathState& state) const {
  const Value to = state.get(instruction.b);
  if (instruction.b == state.platform().roles.link || !to.known()) return std::nullopt;
  const GuestVirt at{to.bits};
  const elf::Image* image = images_.find_code(at);
  const bool jumps = image != nullptr && !follows_call(*image->file, image->to_image(at), decoder_);
  return jumps ? std::optional(at) : std::nullopt;
}

std::optional<ReturnPath> ReturnPathFinder::finish(const Instruction& instruction,
                                                   const PathState& state,
                                                   const StackMemory& memory) {
  const arch::ArchInfo& platform = state.platform();
  const bool interrupt = instruction.operation == Operation::kInterruptRet;
  const auto [pc_register, status_register] = platform.exception;
  const Value pc = state.get(interrupt ? pc_register : instruction.b);
  if (interrupt) {
    const Value status = state.get(status_register);
    if (status.known() && platform.saved_mode.is_user(status.bits))
      return ReturnPath{.kind = ReturnPath::Kind::kUser};
    if (!status.known() && !miss_) miss_ = state.miss(status, memory);
    if (!status.known()) return std::nullopt;
  }
  if (!pc.known()) {
    if (!miss_) miss_ = state.miss(pc, memory);
    return std::nullopt;
  }
  ReturnPath path{.kind = interrupt ? ReturnPath::Kind::kInterrupt : ReturnPath::Kind::kReturn,
                  .state = state.machine_state(pc.bits, pc.slot)};
  path.state.exact = interrupt;
  if (!interrupt) {
    const std::uint64_t kept = platform.roles.callee_saved | std::uint64_t{1} << platform.roles.sp |
                               std::uint64_t{1} << platform.roles.pc;
    // Code that was not called by way of the link register has that of its caller, which goes on at
    // this very place.
    path.state.exact = instruction.b != platform.roles.link;
    path.state.valid &= path.state.exact ? kept | std::uint64_t{1} << platform.roles.link : kept;
  }
  return path;
}

}  // namespace ringside::unwind::link_register
