#pragma once

#include <functional>

#include "stack_set.h"
#include "walker.h"

namespace ringside::bench {

struct Way {
  std::string name;
  std::function<Result<std::unique_ptr<Walker>>(const StackSet&)> make;
};

// Ways to unwind an x86_64 kernel that has all the tables.
[[nodiscard]] std::vector<Way> ways_with_tables();
// The same kernel's, or another's, by its instructions and frame pointers alone.
[[nodiscard]] Way frame_pointers();

// The one of either that is called `name`.
[[nodiscard]] Result<Way> find_way(const std::string& name);

// Which of the set's stacks a way finds as expected, address by address. Frames that it finds
// below them (libraries that recognize no end of a kernel stack go on) are not compared.
[[nodiscard]] std::vector<bool> agreement(Walker& walker, const StackSet& set);

}  // namespace ringside::bench
