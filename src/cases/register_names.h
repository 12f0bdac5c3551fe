#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/types.h"

namespace ringside::cases {

// A register's name, as gdb calls it, in lower case; "wire52" and so on where it has none.
[[nodiscard]] std::string register_name(Arch arch, std::size_t number);
// The inverse.
[[nodiscard]] std::optional<std::uint8_t> register_number(Arch arch, std::string_view name);

}  // namespace ringside::cases
