#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/types.h"

namespace ringside::wire {

// When a register that `g` does not hold is asked for. Each costs an answer of its own, 10 to 20 µs
// of the guest's time.
enum class AskedFor : std::uint8_t {
  kEverySample,   // says who runs, or in which address space
  kKernelSample,  // what entry code has not saved yet of the code that it interrupted
  kOnDemand,      // hardly changes: Engine::read_registers()
};

// Where each level has a register of its own for what exception entry saves, captures hold that of
// the level that runs, under the number of the kernel's usual one. As execution_mode.h numbers
// them.
inline constexpr std::uint8_t kAnyLevel = 0xff;

struct KnownRegister {
  std::string_view name;  // as in target descriptions
  std::uint8_t id;        // wire register number
  AskedFor asked_for = AskedFor::kEverySample;
  std::uint8_t level = kAnyLevel;

  // Whether a capture gets it where `running` runs (execution_mode.h's running_level). User code
  // has been entered from the usual level, 1.
  [[nodiscard]] bool is_of(std::optional<std::uint8_t> running) const {
    constexpr std::uint8_t kUsual = 1;
    return level == kAnyLevel || level == std::max(running.value_or(kUsual), kUsual);
  }
};

// Nothing for a register that no capture carries.
[[nodiscard]] std::optional<KnownRegister> known_register(Arch arch, std::string_view name);

}  // namespace ringside::wire
