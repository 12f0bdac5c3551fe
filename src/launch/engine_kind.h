#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace ringside::launch {

// How ringside samples a guest. The names are those of --engine and of recordings.
enum class EngineKind : std::uint8_t {
  kAuto,  // as a wish only: the best that can be
  kTcg,   // a plugin of QEMU's
  kGdb,   // QEMU's gdb stub, or another one
  kQmp,   // QEMU's monitor
  kRing,  // the guest samples itself (guest/README.md)
};

inline constexpr std::array<std::string_view, 5> kEngineNames{"auto", "tcg", "gdb", "qmp", "ring"};

[[nodiscard]] constexpr std::string_view name_of(EngineKind kind) {
  return kEngineNames[static_cast<std::size_t>(kind)];
}

// Nothing for a name that is none.
[[nodiscard]] constexpr std::optional<EngineKind> engine_named(std::string_view name) {
  for (std::size_t i = 0; i < kEngineNames.size(); ++i)
    if (kEngineNames[i] == name) return static_cast<EngineKind>(i);
  return std::nullopt;
}

}  // namespace ringside::launch
