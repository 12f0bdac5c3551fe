#include "unwind/x86/no_return.h"

#include <unordered_set>
#include <vector>

namespace ringside::unwind::x86 {

bool never_returns(const elf::Image& image, CodeReader& code, GuestVirt at) {
  constexpr std::size_t kMaxInstructions = 64;
  std::unordered_set<std::uint64_t> seen;
  std::vector<GuestVirt> open = {at};
  while (!open.empty()) {
    GuestVirt pc = open.back();
    open.pop_back();
    while (seen.insert(pc.value).second) {
      if (seen.size() > kMaxInstructions) return false;
      const Instruction& instruction = code.at(image, pc);
      const GuestVirt next = pc + instruction.size;
      switch (instruction.operation) {
        case Operation::kRet:
        case Operation::kInterruptRet:
        case Operation::kSystemRet:
        case Operation::kJumpIndirect:
          return false;
        case Operation::kJump:
          pc = image.to_guest(*instruction.target);
          continue;
        case Operation::kBranch:
          open.push_back(image.to_guest(*instruction.target));
          break;
        case Operation::kTrap:
        case Operation::kStop:
          continue;  // seen: the way ends
        default:
          break;
      }
      pc = next;
    }
  }
  return true;
}

}  // namespace ringside::unwind::x86
