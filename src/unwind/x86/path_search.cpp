#include "unwind/x86/path_search.h"

#include <unordered_set>

namespace ringside::unwind::x86 {
namespace {

constexpr int kMaxInstructions = 1000;
constexpr std::size_t kMaxDecoded = 100'000;
constexpr std::uint64_t kMultiplier = 0x9e3779b97f4a7c15;

// Key that distinguishes visits of an instruction: pc, stack pointer and the registers in `apart`.
std::uint64_t visit_key(const MachineState& state, std::uint64_t apart) {
  std::uint64_t key = state.pc().value * kMultiplier ^ state.sp().value;
  for (std::size_t reg = 0; apart >> reg != 0; ++reg)
    if ((apart >> reg & 1u) != 0) key = key * kMultiplier ^ state.get(reg);
  return key;
}

}  // namespace

const Instruction& CodeReader::at(const elf::Image& image, GuestVirt at) {
  if (decoded_.size() > kMaxDecoded) decoded_.clear();
  const auto [found, is_new] = decoded_.try_emplace(at.value);
  if (is_new) {
    const ImageAddr address = image.to_image(at);
    found->second = decoder_.decode(image.file->bytes_at(address, 16), address);
    if (!image.file->is_code(address)) found->second.operation = Operation::kStop;
  }
  return found->second;
}

SearchEnd search(const elf::Image& image, CodeReader& code, Execution& execution,
                 const MachineState& from, std::uint64_t apart,
                 const std::function<bool(const Instruction&, const Path&)>& found) {
  const std::uint8_t pc = from.platform->roles.pc;
  std::vector<Path> open;
  open.push_back({.state = from});
  std::unordered_set<std::uint64_t> seen;
  int budget = kMaxInstructions;
  for (; !open.empty() && budget > 0;) {
    Path path = std::move(open.back());
    open.pop_back();
    for (; budget > 0; --budget) {
      const GuestVirt at = path.state.pc();
      if (!seen.insert(visit_key(path.state, apart)).second) break;
      const Instruction& instruction = code.at(image, at);
      std::uint64_t next = at.value + instruction.size;
      if (instruction.operation == Operation::kJump) {
        next = image.to_guest(*instruction.target).value;
      } else if (instruction.operation == Operation::kBranch) {
        Path other = path;
        const std::uint64_t target = image.to_guest(*instruction.target).value;
        const bool taken = path.takes(instruction.condition).value_or(false);
        other.state.set(pc, taken ? next : target);
        if (taken) next = target;
        open.push_back(std::move(other));
      } else {
        const Execution::Outcome outcome = execution.carry_out(instruction, path);
        if (outcome == Execution::Outcome::kLeaves && found(instruction, path))
          return SearchEnd::kFound;
        if (outcome != Execution::Outcome::kGoOn) break;
      }
      path.state.set(pc, next);
    }
  }
  return budget > 0 ? SearchEnd::kNoMore : SearchEnd::kTooLong;
}

}  // namespace ringside::unwind::x86
