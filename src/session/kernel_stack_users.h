#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/types.h"

namespace ringside::session {

// Which address spaces' threads enter the kernel on which of its stacks. While a kernel switches
// threads it runs on the stack of the old one, and the page tables are the new one's already: what
// the old one had in its registers means nothing there. Nothing but the samples shows when that is.
class KernelStackUsers {
 public:
  // Takes in that a stack was seen with an address space, and says whether the two belong together.
  // `slot` stands for the stack. `in_entry`: the code that was entered ran itself, without having
  // called anything that may switch threads. Where there is such evidence it alone counts; a stack
  // that each vCPU has for all threads belongs to many. Else it is the most frequent one's.
  [[nodiscard]] bool belong(GuestVirt slot, std::uint64_t address_space, bool in_entry);

 private:
  static constexpr std::size_t kMostStacks = 4096;
  static constexpr std::size_t kMostUsers = 64;
  struct User {
    std::uint64_t address_space = 0;
    std::uint64_t seen = 0;
    std::uint64_t in_entry = 0;
  };
  std::unordered_map<std::uint64_t, std::vector<User>> stacks_;  // by slot
};

}  // namespace ringside::session
