#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "arch/arch_info.h"

namespace ringside::arch {

// The register that a target description calls so. Nothing for one that no capture carries.
[[nodiscard]] std::optional<RegisterName> known_register(Arch arch, std::string_view name);

// The register's name in texts, in lower case; empty where the number has none.
[[nodiscard]] std::string register_name(Arch arch, std::size_t number);

// The number of the register that register_name() calls so.
[[nodiscard]] std::optional<std::uint8_t> register_number(Arch arch, std::string_view name);

}  // namespace ringside::arch
