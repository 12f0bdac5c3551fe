#pragma once

#include <string>

#include "stack_set.h"

namespace ringside::bench {

// Prints as one line of JSON what the first use of a way costs: seconds to open and to walk all
// stacks once, tables being built as they are met, and the memory that it takes beyond what the
// stacks take, resident at the peak (pages of the kernel's file included) and private at the end.
[[nodiscard]] Result<void> walk_once(const std::string& way, const StackSet& set);

// Prints the addresses of the stacks that a way does not find as expected.
[[nodiscard]] Result<void> print_differences(const std::string& way, const StackSet& set);

}  // namespace ringside::bench
