#pragma once

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

struct KnownRegister {
  std::string_view name;  // as in target descriptions
  std::uint8_t id;        // wire register number
  AskedFor asked_for = AskedFor::kEverySample;
};

// Nothing for a register that no capture carries.
[[nodiscard]] std::optional<KnownRegister> known_register(Arch arch, std::string_view name);

}  // namespace ringside::wire
