#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/stack.h"

namespace ringside::cases {

// Which captures of a recording become cases. All conditions that are given must hold; none given
// chooses every capture.
struct Selection {
  std::vector<std::size_t> numbers = {};
  // "leaf=NAME", "frame=NAME", "stop=REASON"; NAME may hold * for any characters.
  std::vector<std::string> where = {};
  bool incomplete = false;                 // stacks that are not complete
  std::optional<std::size_t> random = {};  // so many, chosen at random
  std::uint64_t seed = 1;
};

// The properties of a capture that a selection examines.
struct Candidate {
  std::size_t number = 0;
  std::vector<std::string> functions;  // leaf first
  StopReason stop = StopReason::kNoRegisters;
};

// The numbers of the chosen ones, ascending. Error kUsage for a condition of no known form.
[[nodiscard]] Result<std::vector<std::size_t>> choose(const Selection& selection,
                                                      const std::vector<Candidate>& candidates);

}  // namespace ringside::cases
