#pragma once

#include <cstddef>
#include <span>

#include "base/types.h"

namespace ringside::plugin {

// Whether `instruction`, the last of a block, can only go on or skip some of what follows: a
// conditional jump forward. Not an unconditional one, which may be the way into another function.
// False where that is not certain.
[[nodiscard]] bool only_skips(Arch arch, std::span<const std::byte> instruction);

}  // namespace ringside::plugin
