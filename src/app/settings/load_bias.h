#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace ringside::app {

// Parses the value of --load-bias, a hexadecimal number; nothing where it is empty.
[[nodiscard]] Result<std::optional<std::uint64_t>> parse_load_bias(std::string_view text);

}  // namespace ringside::app
